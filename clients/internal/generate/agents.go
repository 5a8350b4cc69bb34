package main

import (
	"strings"
	"text/template"

	"github.com/content-automation/api/clients/internal/form"
	"github.com/content-automation/api/pkg/base/text"
)

// guidance is what agents are told about a client. The operations follow from the form.
type guidance struct {
	Title, Language, Start                         string
	Waiting, Repeating, Paging, Failing, Receiving string
	Resources                                      []form.Resource
}

// agents are the texts for each client, by its folder, and how it writes a call.
var agents = map[string]struct {
	guidance
	call func(form.Operation) string
}{
	"go": {guidance{
		Title: "Go client of the Content-Automation API", Language: "go",
		Start:   "client, err := contentautomation.New()",
		Waiting: "Methods that begin with `WaitFor` wait until it has ended; failed work is a `*FailedError`.",
		Repeating: "Calls are repeated with the same idempotency key. To repeat one after a crash, give your own by " +
			"`WithIdempotencyKey`.",
		Paging:    "Lists are iterators over all pages. Methods that end with `Page` read one page.",
		Failing:   "An error of the API is a `*Error` with `Code`, `Message`, `Param` and `RequestID`.",
		Receiving: "`NewReceiver(secret).Event(header, body)` verifies a webhook over its raw body.",
	}, func(o form.Operation) string { return "client." + goName(o.Resource) + "." + goName(o.Name) }},
	"typescript": {guidance{
		Title: "TypeScript client of the Content-Automation API", Language: "ts",
		Start:   "import { ContentAutomation } from '@content-automation/api';\n\nconst client = new ContentAutomation();",
		Waiting: "Methods that begin with `waitFor` wait until it has ended; failed work is a `FailedError` with `failure`.",
		Repeating: "Calls are repeated with the same idempotency key. To repeat one after a crash, give your own as the option " +
			"`idempotencyKey`.",
		Paging:    "Lists are asynchronous iterators over all pages; `toArray({ limit })` reads them into an array.",
		Failing:   "An error of the API is an `ApiError` with `code`, `message`, `param` and `requestId`.",
		Receiving: "`new Receiver(secret)` verifies a webhook over its raw body.",
	}, func(o form.Operation) string { return "client." + text.Camel(o.Resource) + "." + o.Name }},
	"python": {guidance{
		Title: "Python client of the Content-Automation API", Language: "python",
		Start:   "from content_automation import ContentAutomation\n\nclient = ContentAutomation()",
		Waiting: "Methods that begin with `wait_for` wait until it has ended; failed work raises `FailedError` with `failure`.",
		Repeating: "Calls are repeated with the same idempotency key. To repeat one after a crash, give your own as " +
			"`idempotency_key`.",
		Paging:    "Lists are iterators over all pages. `AsyncContentAutomation` has the same methods for asyncio.",
		Failing:   "An error of the API is an `ApiError` with `code`, `message`, `param` and `request_id`.",
		Receiving: "`Receiver(secret)` verifies a webhook over its raw body.",
	}, func(o form.Operation) string { return "client." + text.Snake(o.Resource) + "." + text.Snake(o.Name) }},
	"cli": {guidance{
		Title: "Command line client of the Content-Automation API", Language: "sh",
		Start: "cli factories list --json",
		Waiting: "`--wait` waits until it has ended, as commands that begin with `wait-for` do; failed work is the exit " +
			"status 9.",
		Repeating: "Calls are repeated with the same idempotency key. To repeat one after a crash, give your own by " +
			"`--idempotency-key`.",
		Paging:    "A list prints its first page; `--all` reads all pages.",
		Failing:   "An error of the API is printed with its code, and its type is the exit status.",
		Receiving: "`cli listen` forwards events to your machine, and signs them. `cli mcp` serves an agent by tools.",
	}, func(o form.Operation) string { return "cli " + text.Kebab(o.Resource) + " " + text.Kebab(o.Name) }},
}

// writeAgents writes the file AGENTS.md of each client.
func writeAgents(_ string, f *form.Form, all map[string][]byte) error {
	for folder, a := range agents {
		a.Resources = nil
		for _, r := range f.Resources {
			r.Doc = strings.TrimSuffix(r.Doc, ".")
			a.Resources = append(a.Resources, r)
		}
		text, err := fill("agents.tmpl", a.guidance, template.FuncMap{"call": a.call})
		if err != nil {
			return err
		}
		all[folder+"/AGENTS.md"] = text
	}
	return nil
}
