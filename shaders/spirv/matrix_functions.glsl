// Functions of cooperative matrices besides products, by the names of one of two extensions; they do the same.
//
// EACH_ELEMENT(result, matrix, function, ..)  the function's value of each element's row, its column, the element, and what else is given
// REDUCE_ROWS(result, matrix, function)       in all elements of a row, what the function makes of the row's elements
#ifdef MAINTENANCE1
#extension GL_EXT_cooperative_matrix_maintenance1 : require
#define EACH_ELEMENT coopMatPerElementEXT
#define REDUCE_ROWS(result, matrix, combine) coopMatReduceEXT(result, matrix, gl_CooperativeMatrixReduceRowEXT, combine)
#else
#extension GL_NV_cooperative_matrix2 : require
#define EACH_ELEMENT coopMatPerElementNV
#define REDUCE_ROWS(result, matrix, combine) coopMatReduceNV(result, matrix, gl_CooperativeMatrixReduceRowNV, combine)
#endif
