//! Stores some consecutive elements of a word of C: `store_elements(word, first, count, bits)`, of 8, 16 or 32 bits, PER_WORD in a
//! word. C is bound as atomic words.

const BITS: u32 = 32u / PER_WORD;
const MASK: u32 = 0xffffffffu >> (32u - BITS);

// Replaces `count` >= 1 elements from the element `first` of C on, which are all in this word. `bits` has them at their
// positions in the word.
fn store_elements(word: u32, first: u32, count: u32, bits: u32) {
    if count == PER_WORD {
        atomicStore(&c[word], bits);
    } else {
        // Other rows or tensors may have the other elements of the word. No other invocation has these, so they can be
        // cleared and set by two operations.
        let own = ((1u << (count * BITS)) - 1u) << (first % PER_WORD * BITS);
        atomicAnd(&c[word], ~own);
        atomicOr(&c[word], bits);
    }
}
