import { commandName } from '../../../cli/command-name.ts'
import { shellWord } from '../../shell-word.ts'
import type { ServiceProgram } from './service.ts'

/** A `%` ends the command of a line of a crontab. */
const cronWord = (word: string): string => shellWord(word).replaceAll('%', '\\%')

/** What to do where the system starts no programs for a user. `why` is what it said. */
export const withoutManager = (why: string, { command, environment }: ServiceProgram, logFile: string): string => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${cronWord(value)}`)
  const line = ['@reboot', ...variables, ...[...command, '--log-file', logFile].map(cronWord)].join(' ')
  return [
    `This system starts no service for you (${why}). Instead, either`,
    `- add this line to your crontab (crontab -e):`,
    `    ${line}`,
    `- or have sessions uploaded at the end of each turn, or with each commit:`,
    `    ${commandName} hooks install claude-code`,
    `    ${commandName} hooks install git`,
  ].join('\n')
}
