# Completes command lines of wasmres in bash: source <(wasmres completion bash)
_wasmres() {
  local text=${COMP_LINE:0:COMP_POINT} words=() word kept out value rest
  read -a words <<<"$text" # without -r: "\ " stays in a word
  [[ $text == *[[:space:]] ]] && words+=("")
  word=${words[${#words[@]} - 1]}
  unset "words[${#words[@]}-1]"
  out=$("${COMP_WORDS[0]}" __complete "--word=$word" -- "${words[@]:1}" 2>/dev/null) || return
  # Bash replaces what follows the last of these characters in the word.
  kept=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r value rest; do
    [[ -n $value ]] && COMPREPLY+=("$(printf %q "${value#"$kept"}")")
  done <<<"$(tail -n +2 <<<"$out")"
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:/] ]] && compopt -o nospace 2>/dev/null
  local IFS=$'\n'
  word=${word#"$kept"}
  case ${out%%$'\n'*} in
    wasm) COMPREPLY+=($(compgen -f -X '!*.wasm' -- "$word") $(compgen -d -- "$word")) ;;
    files) COMPREPLY+=($(compgen -f -- "$word")) ;;
    folders) COMPREPLY+=($(compgen -d -- "$word")) ;;
    *) return ;;
  esac
  compopt -o filenames 2>/dev/null
}
complete -F _wasmres wasmres
