/**
 * Stands in stored JSON where Perch's own address will be: `"perch:/ada.example"`. The address is
 * configuration and can change between two starts; what is stored does not.
 */
export const ownAddress = 'perch:';
