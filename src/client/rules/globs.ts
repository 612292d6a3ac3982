import { isAbsolute, relative, sep } from 'node:path'
import { Minimatch } from 'minimatch'
import { trimEndMatching } from '../../base/texts.ts'

/** Whether a glob matches a path. */
export type Matches = (path: string) => boolean

// Braces and the like are left out: they multiply what a stranger's glob costs.
const options = {
  dot: true,
  nobrace: true,
  noext: true,
  nocomment: true,
  nonegate: true,
  nocase: process.platform === 'win32' || process.platform === 'darwin',
} as const

const withSlashes = (path: string): string => (sep === '/' ? path : path.split(sep).join('/'))

/** Why a text is not a valid glob; undefined for a valid one. */
export const globProblem = (glob: string): string | undefined => {
  if (glob.startsWith('!')) return 'must not begin with "!"'
  if (glob.includes('\0')) return 'must not hold a zero byte'
  return glob.split('/').includes('..') ? 'must not hold ".."' : undefined
}

/** The path from a folder to one in it, with slashes; undefined for one outside. */
export const pathIn = (folder: string, path: string): string | undefined => {
  if (!isAbsolute(path)) return undefined
  const way = relative(folder, path)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return undefined
  return withSlashes(way)
}

/**
 * A glob for paths in any of some folders: it matches a path and everything below it. `*` stays within a name, `**` is any number of
 * folders; an empty glob matches the folders themselves.
 */
export const globIn = (folders: readonly string[], glob: string): Matches => {
  const pattern = trimEndMatching(glob.replace(/^(?:\.\/)+/, ''), /\//)
  const matchers = [pattern, `${pattern}/**`].map((text) => new Minimatch(text, options))
  return (path) =>
    folders.some((folder) => {
      const way = pathIn(folder, path)
      return way !== undefined && (pattern === '' || pattern === '.' || matchers.some((matcher) => matcher.match(way)))
    })
}
