//! The word that was meant: Ratcliff and Obershelp's measure of likeness, as in Python's difflib.

/// Least likeness of a word that is suggested.
pub const USUAL_CUTOFF: f64 = 0.6;

/// A hint at the word that was meant, as a part of a message; empty if none is near.
pub fn hint<'a>(written: &str, words: impl IntoIterator<Item = &'a str>, cutoff: f64) -> String {
    nearest(written, words, cutoff).map_or(String::new(), |word| format!(" (did you mean '{word}'?)"))
}

/// The nearest of some words, if one is at least as near as `cutoff`, 0 to 1.
pub fn nearest<'a>(written: &str, words: impl IntoIterator<Item = &'a str>, cutoff: f64) -> Option<&'a str> {
    let likenesses = words.into_iter().map(|word| (likeness(word, written), word));
    let near = likenesses.filter(|(likeness, _)| *likeness >= cutoff);
    near.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1))).map(|(_, word)| word)
}

/// The few of some words that are likest, the likest first.
pub fn likest<'a>(written: &str, words: &[&'a str], few: usize) -> Vec<&'a str> {
    let mut sorted: Vec<(f64, &str)> = words.iter().map(|word| (likeness(word, written), *word)).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    sorted.into_iter().take(few).map(|(_, word)| word).collect()
}

/// Twice the characters in common blocks, as a share of all characters.
fn likeness(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.is_empty() && b.is_empty() {
        1.0
    } else {
        2.0 * matching(&a, &b) as f64 / (a.len() + b.len()) as f64
    }
}

/// Characters in the longest common block, the earliest if there are several, and in what is left and right of it.
fn matching(a: &[char], b: &[char]) -> usize {
    let mut best = (0, 0, 0);
    for i in 0..a.len() {
        for j in 0..b.len() {
            let length = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
            if length > best.2 {
                best = (i, j, length);
            }
        }
    }
    let (i, j, length) = best;
    if length == 0 {
        return 0;
    }
    length + matching(&a[..i], &b[..j]) + matching(&a[i + length..], &b[j + length..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_the_one_that_was_meant() {
        let words = ["duration", "warmup", "seed", "stack", "name"];
        assert_eq!(nearest("duraton", words, 0.5), Some("duration"));
        assert_eq!(nearest("blue", words, 0.6), None);
        assert_eq!(hint("sed", words, 0.6), " (did you mean 'seed'?)");
        assert_eq!(nearest("splitbuf", ["splitbuff", "splitbuff-blind"], 0.6), Some("splitbuff"));
    }
}
