package docs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const markdownType = "text/markdown; charset=utf-8"

// addAgents adds the pages for agents that read: the texts of the guides and of the codes, their index, and all of them
// in one text.
func (h handler) addAgents(document []byte) {
	add := func(path string, text func() []byte) {
		h[path] = &page{kind: markdownType, shared: true, content: content(text)}
	}
	for _, g := range guides {
		add(guidesPath+"/"+g.name+".md", func() []byte { return markdown(g.name) })
	}
	add(errorsPath+".md", errorIndex)
	add("/llms.txt", index)
	add("/llms-full.txt", func() []byte { return everything(document) })
}

// guideLink is a link from a guide to another.
var guideLink = regexp.MustCompile(`\]\(([a-z-]+)(#[a-z0-9-]+)?\)`)

// markdown returns the text of a guide whose links lead to texts.
func markdown(name string) []byte {
	return guideLink.ReplaceAll(guideText(name), []byte("](${1}.md$2)"))
}

const about = "# Content-Automation API\n\n> A REST API for making and publishing social-media content: factories " +
	"make posts, videos, carousels, stories and music clips, and publish them on Instagram, TikTok, YouTube, " +
	"Telegram, VK, Rutube and others.\n\nCalls are JSON over HTTPS with `Authorization: Bearer svc_test_…`. Keys " +
	"that begin with `svc_test_` use a sandbox. Work runs in the background; webhooks report the result. Agents can " +
	"use the tools at `/mcp` (Model Context Protocol) instead.\n"

// index returns the index of the texts. Its links are relative, since the path may begin with a stage.
func index() []byte {
	var out bytes.Buffer
	out.WriteString(about)
	group := ""
	for _, g := range guides {
		if g.group != group {
			group = g.group
			fmt.Fprintf(&out, "\n## %s\n\n", group)
		}
		fmt.Fprintf(&out, "- [%s](%s/%s.md)%s\n", g.title, strings.TrimPrefix(guidesPath, "/"), g.name,
			lead(guideText(g.name)))
	}
	fmt.Fprintf(&out, "\n## Reference\n\n- [Errors](%s.md): All codes of errors\n- [OpenAPI document](openapi.json): "+
		"All operations with their schemas\n- [All texts](llms-full.txt): The guides, the codes and the operations "+
		"in one file\n",
		strings.TrimPrefix(errorsPath, "/"))
	return out.Bytes()
}

// lead returns the first sentence of a guide.
func lead(text []byte) string {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.ContainsAny(line[:1], "|`<-") {
			return ""
		}
		sentence, _, _ := strings.Cut(line, ". ")
		return ": " + strings.TrimSuffix(regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(sentence, "$1"),
			".")
	}
	return ""
}

// everything returns the guides, the codes and the list of the operations.
func everything(document []byte) []byte {
	var out bytes.Buffer
	out.WriteString(about)
	for _, g := range guides {
		out.WriteString("\n")
		out.Write(markdown(g.name))
	}
	out.WriteString("\n")
	out.Write(errorIndex())
	out.WriteString("\n# Operations\n\n| Operation | Call | Scope | Meaning |\n|---|---|---|---|\n")
	for _, o := range operationsOf(document) {
		fmt.Fprintf(&out, "| `%s` | `%s %s` | `%s` | %s |\n", o.ID, o.method, o.path, strings.Join(o.Scopes, " "),
			o.Summary)
	}
	return out.Bytes()
}

// described is an operation of the document.
type described struct {
	ID           string   `json:"operationId"`
	Summary      string   `json:"summary"`
	Scopes       []string `json:"x-required-scopes"`
	method, path string
}

// operationsOf returns the operations of the document, by path.
func operationsOf(document []byte) (all []described) {
	var d struct {
		Paths map[string]map[string]described
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil // of tests with another document
	}
	for path, item := range d.Paths {
		for method, o := range item {
			o.method, o.path = strings.ToUpper(method), path
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b described) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.method, b.method))
	})
	return all
}
