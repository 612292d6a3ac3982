import type { Finder } from './finding.ts'
import { isPlaceholder } from './placeholder.ts'

const credentials = /:\/\/([^\s/:@"'`<>]{0,200}):([^\s/@"'`<>]{1,300})@/g

/** Passwords in addresses, such as connection strings and remotes of repositories. Made-up and local ones are let be. */
export const findUrlPasswords: Finder = (text) => {
  if (!text.includes('://')) return []
  return [...text.matchAll(credentials)].flatMap(({ 0: whole, 1: user, 2: password, index }) => {
    if (password === user || password!.length < 4 || isPlaceholder(password!)) return []
    const end = index + whole.length - 1
    return [{ rule: 'url-password', start: end - password!.length, end }]
  })
}
