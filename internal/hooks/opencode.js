// ctx records what is said in opencode, and tells a new session what was done before.
// `ctx install opencode` writes this file; `ctx uninstall opencode` removes it.
import { spawnSync } from "node:child_process"

const program = "ctx"

// call runs the hook in the directory of the session. The hook ends within seconds. Opencode may
// exit right after a turn, so nothing runs beside it.
function call(cwd, event) {
  const run = spawnSync(program, ["hook", "opencode"], {
    cwd,
    input: JSON.stringify({ ...event, cwd }),
    encoding: "utf8",
    timeout: 30000,
    stdio: ["pipe", "pipe", "ignore"],
  })
  return run.stdout ? JSON.parse(run.stdout).hookSpecificOutput.additionalContext : ""
}

// quietly runs work whose failure must not disturb opencode: `ctx doctor` finds what is wrong.
async function quietly(work) {
  try {
    await work()
  } catch {}
}

const server = async ({ client, directory }) => {
  const told = new Map()
  const brief = async (id) => {
    const info = await client.session.get({ path: { id } })
    if (info.data?.parentID) return "" // a subagent is told by the one that it works for
    return call(directory, { hook_event_name: "session.start", source: "startup", session_id: id })
  }
  return {
    event: ({ event }) =>
      quietly(async () => {
        if (event.type !== "session.idle") return
        const path = { id: event.properties.sessionID }
        const info = await client.session.get({ path })
        const messages = await client.session.messages({ path })
        if (!info.data || !messages.data) return
        const document = { info: info.data, messages: messages.data }
        call(directory, { hook_event_name: "session.idle", session_id: path.id, document })
      }),
    "experimental.chat.system.transform": (input, output) =>
      quietly(async () => {
        const id = input.sessionID
        if (!id) return
        // A title is asked for at the same time: whoever comes second waits for the same text.
        if (!told.has(id)) told.set(id, brief(id))
        const text = await told.get(id)
        if (text) output.system.push(text)
      }),
  }
}

export default { id: "ctx", server }
