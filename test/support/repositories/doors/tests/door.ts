import { Door } from '../src/door.ts';

const door = new Door();
door.unlatch('1:2');
