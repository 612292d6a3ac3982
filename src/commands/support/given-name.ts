import { InvalidArgumentError } from 'commander'
import { SHORT_TEXT, isLongerThan } from '../../base/texts.ts'

/** A name on the command line: spaces around it are cut off. */
export const nameFrom = (text: string): string => {
  const name = text.trim()
  if (name === '') throw new InvalidArgumentError('It must not be empty.')
  if (isLongerThan(name, SHORT_TEXT)) throw new InvalidArgumentError(`It must have at most ${SHORT_TEXT} characters.`)
  return name
}
