// ctx records what is said in opencode, and tells a new session what was done before.
// `ctx install opencode` writes this file; `ctx uninstall opencode` removes it.
import { spawnSync } from "node:child_process"

const program = "ctx"

// call runs the hook, which ends within seconds and never fails. Opencode may exit right after a
// turn, so nothing runs beside it.
function call(event) {
  const run = spawnSync(program, ["hook", "opencode"], {
    input: JSON.stringify(event),
    encoding: "utf8",
    timeout: 30000,
    stdio: ["pipe", "pipe", "ignore"],
  })
  try {
    return JSON.parse(run.stdout).hookSpecificOutput.additionalContext
  } catch {
    return ""
  }
}

const server = async ({ client, directory }) => {
  const told = new Map()
  return {
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const path = { id: event.properties.sessionID }
      const info = await client.session.get({ path })
      const messages = await client.session.messages({ path })
      if (!info.data || !messages.data) return
      call({
        hook_event_name: "session.idle",
        session_id: path.id,
        cwd: directory,
        document: { info: info.data, messages: messages.data },
      })
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input.sessionID
      if (!id) return
      if (!told.has(id)) {
        told.set(id, call({ hook_event_name: "session.start", source: "startup", session_id: id, cwd: directory }))
      }
      if (told.get(id)) output.system.push(told.get(id))
    },
  }
}

export default { id: "ctx", server }
