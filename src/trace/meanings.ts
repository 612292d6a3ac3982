/** What the members of traces and messages mean, as the reference says it of what is sent and of what is answered. */

export const traceMeanings = {
  externalId: {
    description: 'The id that the client has chosen for the trace, unique in its namespace; 1 to 1,024 characters',
    examples: ['my-first-session'],
  },
  agentId: { description: 'The agent that was recorded; `unknown` when it is not given', examples: ['my-agent'] },
  title: { description: 'The title that the client gives to the trace', examples: ['Mend the login page'] },
  projectPath: {
    description: 'The folder of the project on the machine of the recording',
    examples: ['/home/ada/shop'],
  },
  projectName: { description: 'The name of the project', examples: ['shop'] },
  model: {
    description:
      'The model that was used. One that the registry knows is stored under its normalised id, any other as it is given',
    examples: ['gpt-5'],
  },
  gitRemoteUrl: {
    description: 'The address of the git remote of the project',
    examples: ['https://git.example.org/ada/shop.git'],
  },
  gitBranch: { description: 'The git branch that was worked on', examples: ['main'] },
  gitRef: {
    description: 'The git commit, tag or detached ref that was worked on',
    examples: ['9fceb02d0ae598e95dc970b74767f19372d61af8'],
  },
} as const

export const messageMeanings = {
  externalId: {
    description: 'The id that the client has chosen for the message, unique in its trace; 1 to 1,024 characters',
    examples: ['message-1'],
  },
  textContent: { description: 'The text of the message as a whole', examples: ['Why does the login page fail?'] },
  model: { description: 'The model that wrote the message', examples: ['gpt-5'] },
  order: {
    description: 'The place of the message in its trace: lists are sorted by it, messages without one come last',
    examples: [1],
  },
  timestamp: {
    description: 'When the message was written, as the client says: in milliseconds since 1970',
    examples: [1_767_366_245_000],
  },
} as const
