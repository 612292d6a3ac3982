import { InvalidArgumentError } from 'commander'

/** Parses the value of an option. @throws InvalidArgumentError */
export const wholeNumber = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 on.')
  return Number(text)
}
