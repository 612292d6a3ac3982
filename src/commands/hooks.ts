import { Command, Argument } from 'commander'
import type { HookKind } from '../sync/hooks/hook.ts'
import { clientEnvironment } from './client-environment.ts'
import { clientCommand } from './support/client-command.ts'
import { type Help, helpText } from './support/help.ts'
import type { Options } from './run/hooks.ts'

const help: Help = {
  about: `
Instead of watching: has Claude Code upload a session after each turn and at its end, or git the sessions of a
repository after each commit. It is done in the background: what called it never waits, sees nothing of it and
never fails because of it. While "sync --watch" runs, hooks do nothing.

Other hooks, and all else in these files, stay as they are; a hook that is there goes on to run. The paths of
Node.js and of Tracebook are noted at the install: run it again when they change.`,
  examples: [
    ['tracebook hooks install claude-code', 'in the settings of Claude Code'],
    ['tracebook hooks install git', 'after each commit in this repository'],
    ['tracebook hooks install git --global', 'after each commit in any repository'],
    ['tracebook hooks status'],
    ['tracebook hooks uninstall git', 'takes out exactly what was put in'],
  ],
  documents: [['{"type":"hook","name","installed","file"?,"log"}', 'name: claude-code, git, git-global']],
  environment: clientEnvironment,
  exitCodes: { 0: 'all is well', 2: 'wrong usage, not logged in, or there is no place for the hook' },
}

/** `tracebook hooks`: has other programs upload sessions when something has happened in them. */
export const hooksCommand = (): Command => {
  const kind = new Argument('<hook>', 'whose hook').choices(['claude-code', 'git'])
  const all = ['--global', 'for git: in all repositories'] as const
  const part = (name: string, description: string) => new Command(name).description(description)
  const shared = { help, namespace: false } as const
  return new Command('hooks')
    .addHelpText('after', helpText(help))
    .addCommand(
      clientCommand<Options, [string]>(
        part('install', 'Have sessions uploaded by a hook')
          .addArgument(kind)
          .option(...all),
        { ...shared, run: async (...args) => (await import('./run/hooks.ts')).install(...args) },
      ),
    )
    .addCommand(
      clientCommand(part('status', 'Say which hooks are installed, and where'), {
        ...shared,
        run: async (...args) => (await import('./run/hooks.ts')).status(...args),
      }),
    )
    .addCommand(
      clientCommand<Options, [string]>(
        part('uninstall', 'Take a hook out again')
          .addArgument(kind)
          .option(...all),
        { ...shared, run: async (...args) => (await import('./run/hooks.ts')).uninstall(...args) },
      ),
    )
    .addCommand(
      clientCommand<Options, [HookKind, readonly string[]]>(
        part('run', 'What a hook calls').addArgument(kind).argument('[args...]', 'what "sync" is told'),
        { ...shared, run: async (...args) => (await import('./run/hooks.ts')).run(...args) },
      ),
      { hidden: true },
    )
}
