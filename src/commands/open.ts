import { Command } from 'commander'
import { clientCommand } from './support/client-command.ts'
import { idHelp } from './support/id-help.ts'
import type { Help } from './support/help.ts'
import type { Options } from './run/open.ts'

const help: Help = {
  about: `
Opens Tracebook, or one trace of it, in your browser, signed in as you: a page asks whether this browser
shall be, and its button does it. Its address works once, within 60 seconds; where there is no browser it
is printed, to be opened in one of your own on any machine. Send it to nobody: who opens it can act as you.
To show a trace to others, use "tracebook share". A public trace needs no login.

${idHelp}`,
  examples: [
    ['tracebook open'],
    ['tracebook open 0192f0c1', 'goes on to the trace'],
    ['tracebook open --no-browser', 'prints the address only'],
  ],
  documents: [
    ['{"type":"open","url","expiresAt"?,"opened"}', 'opened: a browser was started with it'],
    ['    expiresAt is absent for a public trace without a login: the address is for everybody'],
  ],
}

/** `tracebook open`: shows Tracebook in a browser that is signed in. Output and exit codes in its help. */
export const openCommand = (): Command =>
  clientCommand<Options, [string | undefined]>(
    new Command('open')
      .argument('[id]', 'the trace: its id, the beginning of one, or a link (default: the start page)')
      .option('--no-browser', 'open no browser, print the address'),
    {
      help,
      namespace: 'the namespace that the trace is in',
      run: async (...args) => (await import('./run/open.ts')).openPage(...args),
    },
  )
