//! Elements of both operands of products, four at a time.

//#import load_x x=y
//#import four_x x=a
//#import four_x x=y
