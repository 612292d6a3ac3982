import type { SessionView } from '../../contract/sessions.ts'
import type { IdentityView, UserView } from '../../contract/user.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, exactly, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'
import { linkHtml } from './commands.ts'
import { timeHtml } from './days.ts'
import { choice, savedNote } from './form-parts.ts'
import { type Page, blankPage } from './page.ts'
import type { Viewer } from './viewer.ts'

/** The paths that the forms of the settings page are posted to. */
export const settingsForms = {
  name: '/settings/name',
  look: '/settings/look',
  session: '/settings/session/end',
  identity: '/settings/identity/remove',
  browser: '/settings/browser',
  signOut: '/settings/sign-out',
} as const

type SettingsView = {
  readonly user: UserView
  readonly sessions: readonly SessionView[]
  readonly identities: readonly IdentityView[]
  /** The identity of this session. */
  readonly identityId: string
  /** The identity that this browser is, if it is one of the viewer's. */
  readonly browserId: string | undefined
  readonly viewer: Viewer
  /** The note about what was just saved. */
  readonly saved: string | undefined
}

const removal = (action: string, id: string, label: string, of: string): Html =>
  markup`<form method="post" action="${action}"><input type="hidden" name="id" value="${id}"><button class="btn bare risk" aria-label="${label} ${of}">${label}</button></form>`

const tag = (isShown: boolean, text: string): Html => (isShown ? markup`<span class="tag ink">${text}</span>` : none)

const sessionRow = ({ id, deviceName, createdAt, lastUsedAt, current }: SessionView): Html => {
  const name = visibleLine(deviceName ?? '') || 'A device without a name'
  return markup`<tr><td><span class="row">${icon('device')}<b dir="auto">${name}</b>${tag(current, 'this one')}</span></td>
<td class="soft" data-of="Last used">${lastUsedAt === undefined ? markup`never` : timeHtml(lastUsedAt)}</td><td class="soft" data-of="Signed in">${timeHtml(createdAt)}</td>
<td class="n">${removal(settingsForms.session, id, current ? 'Sign out' : 'End', name)}</td></tr>
`
}

/** `deviceName` is that of its oldest session: a later one may be that of a browser which it has signed in. */
const identityName = ({ type, name, login, email }: IdentityView, deviceName = ''): string =>
  visibleLine(name ?? login ?? email ?? '') ||
  (type === 'device' ? visibleLine(deviceName) || 'A device' : 'An account at the code host')

type IdentityMarks = {
  readonly deviceName: string | undefined
  readonly isCurrent: boolean
  readonly isBrowser: boolean
  readonly isOnly: boolean
}

const identityRow = (identity: IdentityView, { deviceName, isCurrent, isBrowser, isOnly }: IdentityMarks): Html => {
  const name = identityName(identity, deviceName)
  const action = isOnly
    ? markup`<span class="faint">the only one, so it stays</span>`
    : removal(settingsForms.identity, identity.id, 'Remove', name)
  return markup`<tr><td><span class="row">${icon(identity.type === 'device' ? 'key' : 'user')}<b dir="auto">${name}</b>${tag(isBrowser, 'this browser')}${tag(isCurrent, 'this session')}</span></td>
<td class="soft">${identity.type === 'device' ? 'device' : 'code host'}</td><td class="n">${action}</td></tr>
`
}

const look = ({
  theme,
  hasKeys,
}: Viewer): Html => markup`<section id="look"><h2 class="day">Appearance <small>in this browser</small></h2>
<form class="form" method="post" action="${settingsForms.look}"><fieldset><legend>Theme</legend>
${choice('theme', 'system', 'As the system', 'Light or dark, as this device is set.', theme === undefined)}${choice('theme', 'light', 'Light', '', theme === 'light')}${choice('theme', 'dark', 'Dark', '', theme === 'dark')}</fieldset>
<fieldset><legend>Keyboard</legend>
${choice('keys', 'on', 'Single keys', 'Such as j and k for the next and the previous message.', hasKeys)}${choice('keys', 'off', 'Only with Ctrl or Command', 'For speech input: no single key does anything.', !hasKeys)}</fieldset>
<div class="row"><button class="btn main">Save</button></div></form></section>
`

const staysHtml = markup`<p class="soft">Signing out ends the session, but this browser still knows you: whoever uses it can sign in as you again. To end that, too, remove
“this browser” from your identities, from another one of them.</p>
`

/** The link by which another browser becomes a device of the viewer. It is shown this once. `expiresAt` is in milliseconds since 1970. */
export const browserLinkPage = (url: string, expiresAt: number): Page => ({
  ...blankPage(
    'Open this link in your other browser',
    markup`${linkHtml(url)}<p>It works once, for ten minutes: until ${timeHtml(expiresAt)}. Whoever opens it can sign in as you, so show it to nobody else.</p>
<p><a class="btn" href="/settings">Back to your settings</a></p>
`,
  ),
  name: 'browser-link',
})

/** `/settings`: the viewer's name, devices and identities, and how pages look. */
export const settingsPage = ({
  user,
  sessions,
  identities,
  identityId,
  browserId,
  viewer,
  saved,
}: SettingsView): Page => ({
  title: 'Settings',
  name: 'settings',
  // The routes of the forms check the origin of the page.
  referrer: 'same-origin',
  content: markup`${savedNote(saved)}<section><h2 class="day">You</h2>
<form class="form" method="post" action="${settingsForms.name}"><label>Name <span class="hint">As it stands beside your sessions.</span>
<span class="field"><input name="displayName" value="${exactly(user.displayName ?? '')}" autocomplete="name" required maxlength="200"></span></label>
<div class="row"><button class="btn main">Save</button></div></form></section>
<section id="devices"><h2 class="day">Devices <small>that are signed in as you</small></h2>
<table class="grid stack"><thead><tr><th scope="col">Device</th><th scope="col">Last used</th><th scope="col">Signed in</th><th scope="col"><span class="vh">Action</span></th></tr></thead>
<tbody>${sessions.map(sessionRow)}</tbody></table></section>
<section id="identities"><h2 class="day">Identities <small>by which you sign in</small></h2>
<table class="grid stack"><thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col"><span class="vh">Action</span></th></tr></thead>
<tbody>${identities.map((one) =>
    identityRow(one, {
      deviceName: sessions.findLast(({ identityId }) => identityId === one.id)?.deviceName,
      isCurrent: one.id === identityId,
      isBrowser: one.id === browserId,
      isOnly: identities.length === 1,
    }),
  )}</tbody></table></section>
<section id="browsers"><h2 class="day">Another browser <small>of yours</small></h2>
<p class="soft">A link that works once, for ten minutes, signs in another browser as you, for example on your phone.</p>
<form class="form" method="post" action="${settingsForms.browser}"><div class="row"><button class="btn">${icon('link')}Make a link</button></div></form></section>
${look(viewer)}<section><h2 class="day">This browser</h2>${browserId === undefined ? none : staysHtml}<form class="form" method="post" action="${settingsForms.signOut}"><div class="row"><button class="btn">${icon('sign-out')}Sign out</button></div></form></section>
`,
})
