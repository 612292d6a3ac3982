const MAX_LENGTH = 80

/** A title from a prompt: one line of at most 80 characters, cut between words. */
export const titleOf = (prompt: string): string => {
  const characters = [...prompt.replace(/\s+/g, ' ').trim()]
  if (characters.length <= MAX_LENGTH) return characters.join('')
  const cut = characters.slice(0, MAX_LENGTH).join('')
  const end = cut.lastIndexOf(' ')
  return `${end > 0 ? cut.slice(0, end) : [...cut].slice(0, -1).join('')}…`
}
