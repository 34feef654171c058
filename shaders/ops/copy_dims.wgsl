//! The sizes of a copy into a view. A row is a line along one axis. Sizes are in units for `copy`, in elements for
//! `copy_parts`.

//#import places

//#slot shift default none
