/**
 * Lines of texts as attribution compares them: without white space, so that neither a formatter nor another end of line changes them. The
 * service and the client must do this in exactly the same way, or nothing is found.
 */

/** The lines of a text, split at LF; an LF at its end begins no further one. */
export const splitLines = (text: string): string[] => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

// Lone surrogates first: without what is between them, two of them would be a pair.
/** A line without its white space; a lone surrogate is U+FFFD, as text that is no UTF-8 is when it is decoded. */
export const comparedLine = (line: string): string => line.toWellFormed().replace(/\s+/g, '')

const LEAST_LENGTH = 8
const MOST_LENGTH = 4_096
const WORD = /[\p{L}\p{N}]{3}/u

/**
 * Whether a line says too little of who wrote it, such as `}`, or is too long to be one that somebody wrote.
 * @param compared the line without its white space (`comparedLine`)
 */
export const isWeakLine = (compared: string): boolean =>
  compared.length < LEAST_LENGTH || compared.length > MOST_LENGTH || !WORD.test(compared)
