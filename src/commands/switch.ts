import { Command } from 'commander'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Makes another namespace the active one of your login: what you sync from now on goes there, and your lists
show it. What was uploaded stays where it is. Without a namespace: lists those that you are a member of,
the active one with a star. For one command --namespace does the same without switching.`,
  examples: [['tracebook switch', 'what there is'], ['tracebook switch my-team']],
  documents: [
    ['{"type":"switch","server","namespace"}', 'the namespace that is active now'],
    ['{"type":"namespace","active","namespace"}', 'without a namespace: for each'],
  ],
}

/** `tracebook switch`: chooses the active namespace of the login. Output and exit codes in its help. */
export const switchCommand = (): Command =>
  clientCommand<ClientOptions, [string | undefined]>(
    new Command('switch').argument('[namespace]', 'the slug of the namespace'),
    { help, namespace: false, run: async (...args) => (await import('./run/switch.ts')).switchNamespace(...args) },
  )
