/** What each control sequence that the client sends does to the cursor and its line. */
const CONTROL = /\x1b\[(?<count>\d*)(?<command>[A-Za-z])/y

/**
 * The lines that a terminal with `columns` columns shows after this output. It interprets cursor movements within a line, erasures and
 * line breaks, and wraps long text. @throws Error for any other control sequence
 */
export const screenOf = (output: string, columns: number): readonly string[] => {
  const lines: string[][] = [[]]
  let [row, column] = [0, 0]
  const moveTo = (line: number) => {
    row = line
    while (lines.length <= row) lines.push([])
  }
  const control = (count: string, command: string) => {
    if (command === 'G') column = Number(count || 1) - 1
    else if (command === 'K' && count === '2') lines[row] = []
    else if (command === 'K' && (count === '' || count === '0'))
      lines[row]!.length = Math.min(column, lines[row]!.length)
    else if (command === 'J' && (count === '' || count === '0')) {
      lines.length = row + 1
      lines[row]!.length = Math.min(column, lines[row]!.length)
    } else throw new Error(`unknown control sequence ${count}${command}`)
  }
  for (let i = 0; i < output.length; i++) {
    CONTROL.lastIndex = i
    const { count = '', command = '' } = CONTROL.exec(output)?.groups ?? {}
    if (command !== '') {
      control(count, command)
      i = CONTROL.lastIndex - 1
    } else if (output[i] === '\r') column = 0
    else if (output[i] === '\n') {
      column = 0
      moveTo(row + 1)
    } else if (output[i] === '\x1b') throw new Error('unknown escape sequence')
    else {
      if (column === columns) {
        column = 0
        moveTo(row + 1)
      }
      const line = lines[row]!
      while (line.length < column) line.push(' ')
      line[column++] = output[i]!
    }
  }
  return lines.map((line) => line.join('').trimEnd())
}
