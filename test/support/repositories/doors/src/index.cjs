exports.Door = require('./door.ts').Door;
