//! What the code of a function of multivectors calls.

//#variant none
// What the code of a function of multivectors calls: most call nothing.

//#variant trigonometry
// Sines, cosines, angles and roots.
//#import trigonometry
