package digest

import "testing"

func TestTodos(t *testing.T) {
	t.Run("a whole list", func(t *testing.T) {
		check(t, []Message{
			called("a", "TodoWrite",
				`{"todos":[{"content":"Mend the parser","status":"in_progress"},{"content":"Test it","status":"pending"}]}`),
			answered("a", "Todos have been modified"),
			called("b", "TodoWrite",
				`{"todos":[{"content":"Mend the parser","status":"completed"},{"content":"Test it","status":"in_progress"}]}`)},
			"todo[active]: Mend the parser", "todo[open]: Test it", "todo[done]: Mend the parser",
			"todo[active]: Test it")
	})
	t.Run("by number", func(t *testing.T) {
		check(t, []Message{
			called("a", "TaskCreate", `{"subject":"Mend the parser","description":""}`),
			answered("a", "Task #1 created successfully: Mend the parser"),
			called("b", "TaskCreate", `{"subject":"Test it"}`),
			answered("b", "Task #2 created successfully: Test it"),
			called("c", "TaskUpdate", `{"taskId":"2","status":"in_progress"}`),
			answered("c", "Updated task #2 status"),
			called("d", "TaskUpdate", `{"taskId":"1","status":"completed"}`),
			called("e", "TaskUpdate", `{"taskId":"2","owner":"somebody"}`)},
			"todo[open]: Mend the parser", "todo[open]: Test it", "todo[active]: Test it",
			"todo[done]: Mend the parser")
	})
	t.Run("by the number that the list gave", func(t *testing.T) {
		check(t, []Message{
			called("a", "TaskCreate", `{"subject":"Mend the parser"}`),
			answered("a", "Task #7 created successfully: Mend the parser"),
			called("b", "TaskUpdate", `{"taskId":"7","status":"completed"}`)},
			"todo[open]: Mend the parser", "todo[done]: Mend the parser")
	})
	t.Run("Gemini CLI", func(t *testing.T) {
		check(
			t,
			[]Message{called("a", "write_todos",
				`{"todos":[{"description":"Mend the parser","status":"in_progress"},
			{"description":"Test it","status":"cancelled"}]}`)},
			"todo[active]: Mend the parser", "todo[done]: Test it")
	})
	t.Run("as a text", func(t *testing.T) {
		for tool, list := range map[string]string{
			"update_todo":      `{"todos":"- [x] Mend the parser\n- [ ] Test it\n- [-] 3 more"}`,
			"update_todo_list": `{"todos":"[x] Mend the parser\n[ ] Test it\n[-] 3 more"}`,
			"todo__write":      `{"content":"# Plan\n* [X] Mend the parser\n* [ ] Test it\n* [~] 3 more"}`,
			"Checklist":        `{"checklist":"- [x] Mend the parser\n- [ ] Test it\n- [-] 3 more"}`,
			"todos": `{"todos":[{"content":"Mend the parser","status":"completed"},
				{"content":"Test it","status":"pending"},{"content":"3 more","status":"in_progress"}]}`,
			"TodoWrite": `{"todos":"1. [completed] Mend the parser\n2. [pending] Test it\n` +
				`3. [in_progress] 3 more"}`,
			"plan_mode_respond": `{"task_progress":"- [x] Mend the parser\n- [ ] Test it\n` +
				`- [-] 3 more"}`,
		} {
			check(t, []Message{called("a", tool, list)}, "todo[done]: Mend the parser",
				"todo[open]: Test it", "todo[active]: 3 more")
		}
	})
	t.Run("one item is one thing", func(t *testing.T) {
		facts := Of(numbered(
			called("a", "TodoWrite",
				`{"todos":[{"content":"Mend  the\nparser","status":"pending"}]}`),
			called("b", "TodoWrite",
				`{"todos":[{"content":"Mend the parser","status":"completed"}]}`)))
		if facts[0].Key != facts[1].Key {
			t.Errorf("keys %q and %q", facts[0].Key, facts[1].Key)
		}
	})
	t.Run("a list that replaces another", func(t *testing.T) {
		check(t, []Message{
			called("a", "TodoWrite", `{"todos":[{"content":"Mend the parser"},{"content":"Test it"}]}`),
			called("b", "TodoWrite", `{"todos":[{"content":"Test it"},{"content":"Print it"}]}`),
			called("c", "update_plan", `{"plan":[]}`)},
			"todo[open]: Mend the parser", "todo[open]: Test it", "todo[open]: Test it",
			"todo[open]: Print it", "todo[dropped]: Mend the parser", "todo[dropped]: Test it",
			"todo[dropped]: Print it")
	})
	t.Run("a list that was not set", func(t *testing.T) {
		check(t, []Message{
			called("a", "TodoWrite", `{"todos":[{"content":"Mend the parser"},{"content":"Test it"}]}`),
			called("b", "TodoWrite", `{"todos":[{"content":"Test it","status":"done"},`+
				`{"content":"Print it"}]}`),
			failedWith("b", "<tool_use_error>InputValidationError</tool_use_error>"),
			called("c", "update_plan", `{"plan":[]}`)},
			"todo[open]: Mend the parser", "todo[open]: Test it", "todo[done]: Test it",
			"todo[open]: Print it", "todo[dropped]: Mend the parser", "todo[open]: Test it",
			"todo[dropped]: Print it", "todo[open]: Mend the parser", "todo[dropped]: Test it",
			"todo[dropped]: Mend the parser")
	})
	t.Run("a list leaves numbered tasks alone", func(t *testing.T) {
		check(t, []Message{
			called("a", "TaskCreate", `{"subject":"Mend the parser"}`),
			called("b", "TodoWrite", `{"todos":[{"content":"Test it"}]}`)},
			"todo[open]: Mend the parser", "todo[open]: Test it")
	})
}
