package people

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/person"
)

// The file has a line for each text: its name, a tab, English, a tab, and Russian. {name} stands for a value. A value
// whose row is "value" and itself is shown in the language of the e-mail.
//
//go:embed mails.tsv
var mailFile string

// mailTexts are the texts by their names: English and Russian.
var mailTexts = sync.OnceValue(func() map[string][2]string {
	texts := map[string][2]string{}
	for line := range strings.Lines(mailFile) {
		if row := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(row) == 3 {
			texts[row[0]] = [2]string{row[1], row[2]}
		}
	}
	return texts
})

// mostValue bounds a value in an e-mail, in bytes.
const mostValue = 400

// words are the texts of an e-mail in one language, with its values.
type words struct {
	russian bool
	values  map[string]string
}

// of returns a text with its values put in.
func (w words) of(name string) string {
	row := mailTexts()[name]
	out := row[0]
	if w.russian {
		out = row[1]
	}
	for key, value := range w.values {
		if row, ok := mailTexts()["value "+value]; ok {
			value = row[0]
			if w.russian {
				value = row[1]
			}
		}
		out = strings.ReplaceAll(out, "{"+key+"}", text.ClipText(value, mostValue))
	}
	return out
}

// page has no style sheet: mail programs leave those out.
var mailPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{.Language}}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
	`<meta name="color-scheme" content="light dark"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px 12px;font:16px/1.5 Inter,'Segoe UI',Roboto,Arial,sans-serif">
<div style="max-width:560px;margin:0 auto">
<h1 style="font-size:20px;line-height:1.3;margin:0 0 16px">{{.Subject}}</h1>
<p style="margin:0 0 16px">{{.Text}}</p>
{{with .Items}}<ul style="margin:0 0 16px;padding-left:20px">{{range .}}<li>{{.}}</li>{{end}}</ul>
{{end}}<p style="margin:0 0 24px"><a href="{{.Link}}" style="display:inline-block;background:#1d4ed8;color:#ffffff;` +
	`padding:10px 18px;border-radius:8px;text-decoration:none;font-weight:600">{{.Button}}</a></p>
<p style="margin:0;font-size:13px;opacity:.75">{{.Why}}<br><a href="{{.Leave}}" style="color:inherit">{{.Stop}}</a></p>
</div></body></html>
`))

// compose fills in the subject and both forms of the text.
func (m *Message) compose(language string, n *person.News, link string) error {
	w := words{language == "ru", n.Values}
	if mailTexts()[n.What+".subject"][0] == "" {
		return fmt.Errorf("people: there is no text for %q", n.What)
	}
	if language != "ru" {
		language = "en"
	}
	m.Subject = text.ClipText(strings.Join(strings.Fields(w.of(n.What+".subject")), " "), 200)
	var items []string
	if listed := n.Values["items"]; listed != "" {
		items = strings.Split(listed, "\n")
	}
	said := struct {
		Language, Subject, Text, Link, Button, Why, Leave, Stop string
		Items                                                   []string
	}{language, m.Subject, w.of(n.What + ".text"), link, w.of(n.What + ".button"), w.of("why." + string(n.Notice)),
		m.Leave, w.of("stop"), items}
	var out bytes.Buffer
	if err := mailPage.Execute(&out, said); err != nil {
		return err
	}
	m.HTML = out.String()
	listed := ""
	for _, name := range items {
		listed += "– " + name + "\n"
	}
	if listed != "" {
		listed += "\n"
	}
	m.Text = said.Text + "\n\n" + listed + said.Button + ": " + link + "\n\n--\n" + said.Why + "\n" + said.Stop + ": " +
		m.Leave + "\n"
	return nil
}
