//! Wordpieces of BERT's uncased models, exactly.

use std::collections::HashMap;
use std::path::Path;
use tilewise::{Error, Result};
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

/// A word of more characters is unknown.
const MAX_WORD: usize = 100;
/// The pieces of padding and unknown words, and those before and after every text.
const SPECIAL: [&str; 4] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];

/// A vocabulary: the row of each piece in the table of embeddings.
#[derive(Debug)]
pub(crate) struct Wordpieces {
    rows: HashMap<String, i32>,
    /// The number of lines, some of which may be equal.
    lines: usize,
    /// The most characters of a piece.
    longest: usize,
    padding: i32,
    unknown: i32,
    start: i32,
    end: i32,
}

/// The tokens of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// The rows of `[CLS]`, the pieces and `[SEP]`.
    pub(crate) ids: Vec<i32>,
    /// How many tokens there were before the text was cut.
    pub(crate) whole: usize,
}

impl Wordpieces {
    /// Reads a vocabulary: line n, from 0, is the piece of row n.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let refuse = |why: String| Error::Input { what: path.display().to_string(), why };
        let text =
            std::fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let mut rows = HashMap::new();
        let mut lines = 0;
        for (piece, row) in text.lines().zip(0..) {
            rows.insert(piece.to_owned(), row);
            lines += 1;
        }
        let missing: Vec<&str> = SPECIAL.into_iter().filter(|&piece| !rows.contains_key(piece)).collect();
        if !missing.is_empty() {
            return Err(refuse(format!(
                "is not a vocabulary of wordpieces: it lacks {}",
                missing.join(", ")
            )));
        }
        let longest = rows.keys().map(|piece| piece.chars().count()).max().unwrap_or(0);
        let [padding, unknown, start, end] = SPECIAL.map(|piece| rows[piece]);
        Ok(Self { rows, lines, longest, padding, unknown, start, end })
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.lines
    }

    /// The row of `[PAD]`.
    pub(crate) fn padding(&self) -> i32 {
        self.padding
    }

    /// The tokens of a text, at most `limit`, which must be at least 2. A longer text is cut at its end.
    pub(crate) fn tokens(&self, text: &str, limit: usize) -> Tokens {
        let mut pieces = Vec::new();
        for word in words(text) {
            self.add_pieces(&word, &mut pieces);
        }
        let whole = pieces.len() + 2;
        pieces.truncate(limit - 2);
        let ids = std::iter::once(self.start).chain(pieces).chain([self.end]).collect();
        Tokens { ids, whole }
    }

    /// Adds the pieces of a word, each the longest that fits from the left; or one unknown piece, if a rest fits none.
    fn add_pieces(&self, word: &[char], pieces: &mut Vec<i32>) {
        let before = pieces.len();
        let mut at = 0;
        while word.len() <= MAX_WORD && at < word.len() {
            let mark = if at == 0 { "" } else { "##" };
            let longest = word.len().min(at + self.longest);
            let found = (at + 1..=longest).rev().find_map(|end| {
                let piece: String = mark.chars().chain(word[at..end].iter().copied()).collect();
                Some((end, *self.rows.get(&piece)?))
            });
            let Some((end, row)) = found else { break };
            pieces.push(row);
            at = end;
        }
        if at < word.len() {
            pieces.truncate(before);
            pieces.push(self.unknown);
        }
    }
}

/// The words of a text: in lower case, without accents, each punctuation mark and each ideograph alone.
fn words(text: &str) -> Vec<Vec<char>> {
    let cleaned = text.chars().filter_map(|c| match c {
        '\t' | '\n' | '\r' => Some(' '),
        '\0' | '\u{fffd}' => None,
        c if is_other(c) => None,
        c => Some(c),
    });
    let spaced = cleaned.flat_map(|c| if is_ideograph(c) { vec![' ', c, ' '] } else { vec![c] });
    let lower = spaced.flat_map(char::to_lowercase);
    let mut words = vec![Vec::new()];
    for c in lower.nfd().filter(|&c| get_general_category(c) != GeneralCategory::NonspacingMark) {
        if c.is_whitespace() {
            words.push(Vec::new());
        } else if is_punctuation(c) {
            words.extend([vec![c], Vec::new()]);
        } else if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Category C: control and format characters, and code points without a meaning of their own.
fn is_other(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse, Surrogate, Unassigned};
    matches!(get_general_category(c), Control | Format | PrivateUse | Surrogate | Unassigned)
}

/// Category P, and the symbols of ASCII.
fn is_punctuation(c: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, InitialPunctuation,
        OpenPunctuation, OtherPunctuation,
    };
    c.is_ascii_punctuation()
        || matches!(
            get_general_category(c),
            ClosePunctuation
                | ConnectorPunctuation
                | DashPunctuation
                | FinalPunctuation
                | InitialPunctuation
                | OpenPunctuation
                | OtherPunctuation
        )
}

/// The blocks of CJK ideographs. Kana and Hangul are not among them.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b820}'..='\u{2ceaf}'
        | '\u{2f800}'..='\u{2fa1f}')
}
