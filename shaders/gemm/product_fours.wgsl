//! Elements of both operands of products, four at a time.

//#slot load x=y default element
//#slot four x=a default places
//#slot four x=y default places
