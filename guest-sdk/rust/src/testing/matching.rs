//! Matches URIs against templates by the host's rules: see abi/uritemplate of wasmres, whose table of cases holds
//! for both. The bounds differ: here there are none.

mod spelling;
mod symbol;
mod template;

pub(super) use spelling::normal;
use spelling::{disguise, reveal};
use symbol::{decode, symbols, Symbol};
use template::{Expression, Part, Template};

/// The values of variables, in the order of the template.
pub(super) type Vars = Vec<(String, String)>;

/// Finds the most specific template that fits a URI, and gives its index and the decoded variables. What wasmres would
/// refuse in the URI is in them, too.
///
/// # Panics
///
/// When a template is malformed.
pub(super) fn route<'a>(templates: impl Iterator<Item = &'a str>, uri: &str) -> Option<(usize, Vars)> {
    let (index, mut vars) = find(templates, &disguise(uri))?;
    vars.iter_mut().for_each(|(_, value)| *value = reveal(value));
    Some((index, vars))
}

fn find<'a>(templates: impl Iterator<Item = &'a str>, uri: &str) -> Option<(usize, Vars)> {
    let text = symbols(uri);
    let mut best: Option<(Template<'_>, usize, Vars)> = None;
    for (index, source) in templates.enumerate() {
        let template = Template::parse(source).unwrap_or_else(|problem| panic!("template {:?}: {}", source, problem));
        if best.as_ref().map_or(false, |(best, ..)| best.specificity() <= template.specificity()) {
            continue;
        }
        if let Some(vars) = Match::of(&template, &text) {
            best = Some((template, index, vars));
        }
    }
    best.map(|(_, index, vars)| (index, vars))
}

/// A set of positions in a URI: for each, from before the first character to after the last, whether it is in it.
type Set = Vec<bool>;

/// One template and one URI: `reach` goes forwards and notes which positions a part can begin at, `deal` goes back and
/// chooses.
struct Match<'a> {
    template: &'a Template<'a>,
    text: &'a [Symbol],
    reached: Vec<Set>,              // for each part, and at last for the end
    begins: Vec<Set>,               // where a value may begin, for each variable without a name
    ends: Vec<Set>,                 // likewise
    pairs: Vec<Vec<Pair>>,          // of each part, in the order of the URI
    captures: Vec<(usize, String)>, // variables and values, last to first
}

/// A place in the URI where a named variable and its value stand.
struct Pair {
    variable: usize,
    at: usize,    // of the character that announces it
    value: usize, // where the value begins
    end: usize,   // the latest position it may end at
}

impl<'a> Match<'a> {
    fn of(template: &'a Template<'a>, text: &'a [Symbol]) -> Option<Vars> {
        let (empty, variables) = (vec![false; text.len() + 1], template.variables.len());
        let mut found = Match {
            template,
            text,
            reached: vec![empty.clone(); template.parts.len() + 1],
            begins: vec![empty.clone(); variables],
            ends: vec![empty; variables],
            pairs: Vec::new(),
            captures: Vec::new(),
        };
        found.find_pairs();
        found.reach();
        if !found.reached[template.parts.len()][text.len()] {
            return None;
        }
        found.deal();
        found.captures.reverse();
        found.captures.sort_by_key(|capture| capture.0);
        if found.captures.iter().any(|(_, value)| is_traversal(value)) {
            return None;
        }
        let named = |(variable, value): (usize, String)| (template.variables[variable].name.to_owned(), value);
        Some(found.captures.into_iter().map(named).collect())
    }

    fn is(&self, at: usize, c: Option<char>) -> bool {
        self.text.get(at).copied() == c.map(Symbol::from)
    }

    fn reach(&mut self) {
        self.reached[0][0] = true;
        let template = self.template;
        for (i, part) in template.parts.iter().enumerate() {
            let from = self.reached[i].clone();
            self.reached[i + 1] = match part {
                Part::Literal(literal) => self.after_literal(literal, &from),
                Part::Expression(expression) if expression.is_named() => self.after_pairs(i, expression, &from),
                Part::Expression(expression) => self.after_values(expression, &from),
            };
        }
    }

    fn after_literal(&self, literal: &[Symbol], from: &Set) -> Set {
        let ends = |end: usize| {
            let begin = end.checked_sub(literal.len());
            begin.map_or(false, |begin| from[begin] && self.text[begin..end] == *literal)
        };
        (0..from.len()).map(ends).collect()
    }

    /// Gives where an expression may end whose values have no names, and notes where they may begin and end.
    fn after_values(&mut self, expression: &Expression, from: &Set) -> Set {
        let marked = expression.marker.is_some();
        let mut to = if marked { from.clone() } else { vec![false; from.len()] };
        let mut begins = if marked { self.after_char(from, expression.marker) } else { from.clone() };
        for v in expression.variables.clone() {
            let ends = self.after_value(v, &begins, !marked && v == expression.variables.start);
            to.iter_mut().zip(&ends).for_each(|(to, &end)| *to |= end);
            let next = self.after_char(&ends, Some(expression.separator));
            self.begins[v] = std::mem::replace(&mut begins, next);
            self.ends[v] = ends;
        }
        to
    }

    /// Gives the positions behind a character that stands at one of some positions.
    fn after_char(&self, from: &Set, c: Option<char>) -> Set {
        (0..from.len()).map(|at| at > 0 && from[at - 1] && self.is(at - 1, c)).collect()
    }

    /// Gives where a value may end that begins at one of some positions.
    fn after_value(&self, v: usize, begins: &Set, non_empty: bool) -> Set {
        let variable = &self.template.variables[v];
        let mut least = None; // characters since a beginning
        let mut ends = vec![false; begins.len()];
        for at in 0..begins.len() {
            let grown = least.filter(|&n| n < variable.limit && variable.may_hold(self.text[at - 1]));
            ends[at] = grown.is_some() || begins[at] && !non_empty;
            least = if begins[at] { Some(0) } else { grown.map(|n| n + 1) };
        }
        ends
    }

    fn find_pairs(&mut self) {
        self.pairs.resize_with(self.template.parts.len(), Vec::new);
        for at in 0..self.text.len() {
            let key = symbol::key(&self.text[at + 1..]);
            let named = |v: &usize| self.template.variables[*v].key == key.as_slice();
            let v = match (0..self.template.variables.len()).find(named) {
                Some(v) => v,
                None => continue,
            };
            let part = self.template.variables[v].part;
            let expression = match &self.template.parts[part] {
                Part::Expression(expression) if expression.is_named() => expression,
                _ => continue,
            };
            if !self.is(at, expression.marker) && !self.is(at, Some(expression.separator)) {
                continue;
            }
            let value = at + 1 + key.len();
            if self.is(value, Some('=')) {
                let end = self.value_end(v, value + 1);
                self.pairs[part].push(Pair { variable: v, at, value: value + 1, end });
            } else if expression.marker == Some(';') {
                self.pairs[part].push(Pair { variable: v, at, value, end: value });
                // an empty value may go without "="
            }
        }
    }

    fn value_end(&self, v: usize, begin: usize) -> usize {
        let variable = &self.template.variables[v];
        let rest = self.text[begin..].iter().take(variable.limit);
        begin + rest.take_while(|&&symbol| variable.may_hold(symbol)).count()
    }

    /// Gives where an expression with names may end: behind a chain of adjacent pairs that begins with a marker, in
    /// which no variable comes twice that may not.
    fn after_pairs(&self, part: usize, expression: &Expression, from: &Set) -> Set {
        let mut to = from.clone();
        let mut seen = vec![0; self.template.variables.len()]; // one more than where each was seen last
        let (mut start, mut floor) = (0, 0); // one more than where the chain begins, and than where it may
        let mut end = None;
        for pair in &self.pairs[part] {
            if end != Some(pair.at) || !self.is(pair.at, Some(expression.separator)) {
                start = 0;
            }
            if from[pair.at] && self.is(pair.at, expression.marker) {
                start = pair.at + 1;
            }
            if !self.template.variables[pair.variable].explode {
                floor = floor.max(seen[pair.variable]);
                seen[pair.variable] = pair.at + 1;
            }
            if start > floor {
                to[pair.value..=pair.end].fill(true);
            }
            end = Some(pair.end);
        }
        to
    }

    fn deal(&mut self) {
        let (template, mut at) = (self.template, self.text.len());
        for (i, part) in template.parts.iter().enumerate().rev() {
            at = match part {
                Part::Literal(literal) => at - literal.len(),
                Part::Expression(expression) if expression.is_named() => self.deal_pairs(i, expression, at),
                Part::Expression(expression) => self.deal_values(expression, at),
            };
        }
    }

    /// Captures the values of an expression that ends at a position, and gives where it begins: as many variables as
    /// can be, each as short as can be.
    fn deal_values(&mut self, expression: &Expression, mut at: usize) -> usize {
        let last = expression.variables.clone().rev().find(|&v| self.ends[v][at]);
        for v in (expression.variables.start..last.map_or(0, |last| last + 1)).rev() {
            let is_unmarked = v == expression.variables.start && expression.marker.is_none();
            let latest = at - usize::from(is_unmarked); // as it is not empty
            let begin = (0..=latest).rev().find(|&begin| self.begins[v][begin]).expect("a value has a beginning");
            self.capture(v, begin, at);
            if is_unmarked {
                return begin;
            }
            at = begin - 1;
        }
        at
    }

    /// Captures the values of an expression with names, as many as can be.
    fn deal_pairs(&mut self, part: usize, expression: &Expression, at: usize) -> usize {
        let pairs = std::mem::take(&mut self.pairs[part]);
        let mut seen = vec![false; self.template.variables.len()];
        let last = pairs.iter().rposition(|pair| pair.value <= at).filter(|&last| pairs[last].end >= at);
        let mut first = None;
        for j in last.map_or(0..0, |last| 0..last + 1).rev() {
            let pair = &pairs[j];
            let adjacent =
                Some(j) == last || pair.end == pairs[j + 1].at && self.is(pair.end, Some(expression.separator));
            if !adjacent || seen[pair.variable] {
                break;
            }
            seen[pair.variable] = !self.template.variables[pair.variable].explode;
            if self.reached[part][pair.at] && self.is(pair.at, expression.marker) {
                first = Some(j);
            }
        }
        let (first, last) = match (first, last) {
            (Some(first), Some(last)) => (first, last),
            _ => return at,
        };
        for (j, pair) in pairs.iter().enumerate().take(last + 1).skip(first).rev() {
            self.capture(pair.variable, pair.value, if j == last { at } else { pair.end });
        }
        pairs[first].at
    }

    /// Notes a value, or the elements of a list from the last to the first.
    fn capture(&mut self, v: usize, begin: usize, end: usize) {
        let list = self.template.variables[v].list.map(Symbol::from);
        for value in self.text[begin..end].rsplit(|&symbol| Some(symbol) == list) {
            self.captures.push((v, decode(value)));
        }
    }
}

/// Reports whether a value is a dot segment or has a double dot as a segment, where a backslash counts as a slash.
fn is_traversal(value: &str) -> bool {
    value == "." || value.split(&['/', '\\'][..]).any(|segment| segment == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks what the test of the host's own matching asks. A published SDK does not have the table.
    #[test]
    fn templates_match() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/uritemplate/match.txt");
        let table = std::fs::read_to_string(path).unwrap_or_default();
        for line in table.lines().filter(|line| !line.starts_with("# ")) {
            let fields: Vec<_> = line.split('\t').collect();
            let (index, vars) =
                find(fields[0].split(' '), fields[1]).map_or((0, Vec::new()), |(i, vars)| (i + 1, vars));
            let mut got = vec![fields[0].to_owned(), fields[1].to_owned(), index.to_string()];
            got.extend(vars.iter().map(|(name, value)| [name, "=", value].concat()));
            assert_eq!(got, fields);
        }
    }

    #[test]
    fn malformed_templates_are_told() {
        for template in ["a://{x", "a://x}", "a://{}", "a://{x,}", "a://{x}{x}", "a://{!x}", "a://{x:0}", "a://{x y}"] {
            assert!(Template::parse(template).is_err(), "{} is taken", template);
        }
    }
}
