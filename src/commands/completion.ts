import type { Command } from 'commander'
import { bashScript } from '../cli/completion/bash.ts'
import { fishScript } from '../cli/completion/fish.ts'
import { type Place, placesOf } from '../cli/completion/places.ts'
import { zshScript } from '../cli/completion/zsh.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, writeOut } from '../cli/output.ts'

export type Shell = 'bash' | 'zsh' | 'fish'

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** Prints a script for a shell, made of the commands of the whole program. */
export const printCompletion =
  (loadProgram: () => Promise<Command>) =>
  async ({ json = false }: { readonly json?: boolean }, shell: Shell): Promise<number> => {
    const script = scripts[shell](placesOf(await loadProgram()))
    await (json ? printDocument({ type: 'completion', shell, script }) : writeOut(script))
    return exitCodes.ok
  }
