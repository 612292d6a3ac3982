const longest = 80

/** A title made of a prompt: on one line, at most 80 characters, cut between words. */
export const titleOf = (prompt: string): string => {
  const characters = [...prompt.replace(/\s+/g, ' ').trim()]
  if (characters.length <= longest) return characters.join('')
  const cut = characters.slice(0, longest).join('')
  const end = cut.lastIndexOf(' ')
  return `${end > 0 ? cut.slice(0, end) : [...cut].slice(0, -1).join('')}…`
}
