/** What the provider answers to a prompt, and what an agent has to have stored afterwards. */

/** What the model asks its agent to do. `says`: what the result has to contain. `fails`: the agent has to store that the call failed. */
export type Action = (
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | { readonly kind: 'edit'; readonly path: string; readonly before: string; readonly after: string }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'delegate'; readonly prompt: string }
  | { readonly kind: 'wait' }
  | { readonly kind: 'complete'; readonly result: string }
) & { readonly says?: string; readonly fails?: true }

/** One answer. An action for which the agent offers no tool is left out, and a turn of nothing but such actions, too. */
export type Turn = { readonly thinking?: string; readonly text?: string; readonly actions?: readonly Action[] }

const shell = (command: string, more: Pick<Action, 'says' | 'fails'> = {}): Action => ({
  kind: 'shell',
  command,
  ...more,
})

/** The answers to a prompt that contains `[[name]]`, one after the other. The provider refuses a prompt of a scene without answers. */
export const scenes: Readonly<Record<string, readonly Turn[]>> = {
  plain: [{ thinking: 'A greeting. I greet back.', text: 'Good morning from the provider.' }],
  again: [{ thinking: 'Another prompt in this session.', text: 'This answers the second prompt.' }],
  tools: [
    { thinking: 'First the folder.', text: 'I look around.', actions: [shell('ls', { says: 'README.md' })] },
    { actions: [{ kind: 'write', path: 'notes.txt', content: 'red\ngreen\nblue\n' }] },
    { thinking: 'One line changes.', actions: [{ kind: 'edit', path: 'notes.txt', before: 'green', after: 'yellow' }] },
    { actions: [{ kind: 'read', path: 'notes.txt', says: 'yellow' }] },
    { thinking: 'That is all.', text: 'The second line of notes.txt is yellow now.' },
  ],
  parallel: [
    { text: 'Both at once.', actions: [shell('echo left', { says: 'left' }), shell('echo right', { says: 'right' })] },
    { text: 'Both have run.' },
  ],
  fail: [
    { text: 'I run the tests.', actions: [shell('echo out-loud; exit 3', { says: 'out-loud', fails: true })] },
    { actions: [shell('cat missing.txt', { says: 'missing.txt', fails: true })] },
    { text: 'Both commands have failed.' },
  ],
  unicode: [
    {
      thinking: '日本語で考える 🤔',
      text: 'こんにちは、世界 🎉 🇯🇵',
      actions: [shell("printf '漢字 %s\\n' '👍🏽'", { says: '漢字 👍🏽' })],
    },
    { text: '終わり ✅' },
  ],
  delegate: [
    {
      text: 'A helper counts them.',
      actions: [{ kind: 'delegate', prompt: 'Count the files of this folder. [[helper]]' }],
    },
    { actions: [{ kind: 'wait' }] },
    { text: 'The helper has counted the files.' },
    { text: 'The result of the helper has come.' },
  ],
  helper: [
    { thinking: 'I am the helper.', actions: [shell('ls | wc -l', { says: '1' })] },
    { text: 'There is one file.', actions: [{ kind: 'complete', result: 'There is one file.' }] },
  ],
  refused: [],
}
