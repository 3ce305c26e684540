/** Whether what `parseWhole` was last given is a whole number of 64 bits. */
export let wasWhole: bool = false;

/** Reads a whole number in decimals, as in `-7`. What is none answers 0: see `wasWhole`. */
export function parseWhole(text: string): i64 {
  const negative = text.startsWith("-");
  let value: i64 = 0;
  wasWhole = text.length > <i32>negative;
  for (let i = <i32>negative; wasWhole && i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    wasWhole = digit >= 0 && digit <= 9 && value >= (i64.MIN_VALUE + digit) / 10;
    value = value * 10 - digit; // below zero there is one number more
  }
  if (!negative) wasWhole = wasWhole && value != i64.MIN_VALUE;
  if (!wasWhole) return 0;
  return negative ? value : -value;
}

/** Whether a value is a number of the type. */
export function fits<T extends number>(value: i64): bool {
  return <i64><T>value == value && (isSigned<T>() || value >= 0);
}

/** Whether a text is a number in decimals, as in `-1.5e3`, or one of `NaN`, `Infinity` and `-Infinity`. */
export function isDecimal(text: string): bool {
  if (text == "NaN" || text == "Infinity" || text == "-Infinity") return true;
  let i = afterSign(text, 0);
  const whole = afterDigits(text, i);
  const end = whole < text.length && text.charCodeAt(whole) == 46 /* . */ ? afterDigits(text, whole + 1) : whole;
  if (end - i < 1 + <i32>(end > whole)) return false; // no digit
  if (end < text.length && (text.charCodeAt(end) | 32) == 101 /* e */) {
    i = afterSign(text, end + 1);
    return i < text.length && afterDigits(text, i) == text.length;
  }
  return end == text.length;
}

function afterSign(text: string, at: i32): i32 {
  if (at >= text.length) return at;
  const unit = text.charCodeAt(at);
  return unit == 43 || unit == 45 ? at + 1 : at;
}

function afterDigits(text: string, at: i32): i32 {
  while (at < text.length && text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at++;
  return at;
}

/** A number in decimals; of one without a fraction the whole number, as in `2`. */
export function decimal(value: f64): string {
  const text = value.toString();
  return text.endsWith(".0") ? text.substring(0, text.length - 2) : text;
}
