import fc from 'fast-check'

/** Pieces of text that mean something in Markdown, HTML, a terminal or JSON. */
const pieces = [
  ...[
    '#',
    '# ',
    '###### x',
    '\n',
    '\n\n',
    '\r',
    '\r\n',
    '\t',
    ' ',
    '    ',
    '`',
    '```',
    '``````',
    '~~~',
    '~~~~\n',
    '```js\n',
  ],
  ...['---', '\n---\n', '\n===\n', '\n***\n', '+++\n', '* ', '- ', '+ ', '1. ', '999999999. ', '1) ', '> ', '>', '>>>'],
  ...[
    '| a | b |',
    '\n|---|---|\n',
    '|',
    ':--',
    '[x](y "z")',
    '![i](http://e.example/i)',
    '[a]: http://e.example\n',
    '[^1]: note\n',
    '[^1]',
  ],
  ...[
    '<',
    '<script>',
    '</script>',
    '</details>',
    '<details>',
    '</summary>',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?php',
    '<b onclick="x">',
  ],
  ...[
    '<http://e.example>',
    'http://e.example',
    '</style>',
    '</title>',
    '</pre>',
    '</code>',
    '&lt;',
    '&#35; x',
    '&#10;# x',
    '&#32;&#32;&#32;&#32;x',
    '&amp;',
  ],
  ...['"', "'", '\\', '\\`', '\\\n', '*', '**', '_', '__', '~~', '$', '$$', '{', '}', ':', '=', '!', '(', ')'],
  ...[
    '\0',
    '\u0007',
    '\u001b[31m',
    '\u001b[0m',
    '\u001b]0;t\u0007',
    '\u001b',
    '\u009b',
    '\u2028',
    '\u2029',
    '\u202e',
    '\ud800',
    '\udc00',
    '\ufeff',
  ],
  ...['word', 'Ünïcode', '漢字', '🙂', '*** Begin Patch\n', '+added\n', '-removed\n'],
]

/** Text that tries to be markup. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    ),
    {
      maxLength: 24,
    },
  )
  .map((texts) => texts.join(''))
