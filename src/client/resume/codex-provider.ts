import { readFile } from 'node:fs/promises'

const DEFAULT = 'openai'

/** The lines of a table of a TOML file; those before the first table for no name. */
const linesOf = (text: string, isTable: (name: string) => boolean): readonly string[] => {
  let isIn = isTable('')
  return text.split('\n').filter((line) => {
    const [, name] = /^\s*\[([^\]]*)\]/.exec(line) ?? []
    if (name !== undefined) isIn = isTable(name.replaceAll(/["' ]/g, ''))
    return isIn && name === undefined
  })
}

/** The text of a key in lines of a TOML file. */
const valueIn = (lines: readonly string[], key: string): string | undefined => {
  for (const line of lines) {
    const [, name, double, single] = /^\s*"?(\w+)"?\s*=\s*(?:"([^"\\]*)"|'([^']*)')/.exec(line) ?? []
    if (name === key) return double ?? single
  }
  return undefined
}

/**
 * The provider that Codex is set up for in its `config.toml`, also by a profile; else its default. It goes on only with a session of a provider that is
 * configured, and `codex resume` takes a session without one for a session of the provider "" (tried with 0.171.0).
 */
export const configuredProvider = async (path: string): Promise<string> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  const top = linesOf(text, (name) => name === '')
  const profile = valueIn(top, 'profile')
  const ofProfile = linesOf(text, (name) => name === `profiles.${profile}`)
  return valueIn(profile === undefined ? [] : ofProfile, 'model_provider') ?? valueIn(top, 'model_provider') ?? DEFAULT
}
