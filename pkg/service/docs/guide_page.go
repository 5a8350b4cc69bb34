package docs

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
)

// russianPath is the path of the guides in Russian. A guide that is not translated has no page there.
const russianPath = guidesPath + "/ru"

// russianTitles are the titles of the translated guides, by their names. The order is that of guides.
var russianTitles = map[string]string{
	"quick-start": "Быстрый старт", "authentication": "Аутентификация", "webhooks": "Вебхуки",
	"own-posts": "Свои посты, согласование и календарь", "limits": "Лимиты и ошибки", "media": "Свои медиа",
	"publishing": "Публикация",
}

// russianGroups are the groups of the navigation in Russian.
var russianGroups = map[string]string{"Start": "Начало", "Content": "Контент", "Publishing": "Публикация",
	"Operation": "Работа", "Reference": "Справочник"}

// words are the texts of the frame in a language.
type words map[string]string

// in returns a text in the language of the page. English texts are their own names.
func (w words) in(text string) string {
	if other, ok := w[text]; ok {
		return other
	}
	return text
}

var russianWords = words{
	"Skip to content": "К содержанию", "Account area": "Личный кабинет", "Guides": "Руководства",
	"API reference": "Справочник API", "Search the guides": "Поиск по руководствам", "Errors": "Ошибки",
	"On this page": "На этой странице", "Previous": "Назад", "Next": "Дальше", "Documentation": "Документация",
	"All guides are in English": "Все руководства на английском", "Reference": "Справочник", "Site": "Сайт",
}

// written is a page of the documentation with a text.
type written struct {
	path, title string
	markdown    []byte
	russian     bool
}

func (p written) words() words {
	if p.russian {
		return russianWords
	}
	return nil
}

// root returns the relative address of the folder of the documentation.
func (p written) root() string {
	return strings.Repeat("../", strings.Count(strings.TrimPrefix(p.path, "/api-docs/"), "/"))
}

// to returns the relative address of a path of the documentation.
func (p written) to(path string) string { return p.root() + strings.TrimPrefix(path, "/api-docs/") }

// listed is a guide as the navigation of a page shows it.
type listed struct{ group, path, title string }

// listed returns the guides in the language of the page, in their order, each once.
func (p written) listed() (all []listed) {
	for _, g := range guides {
		if !p.russian {
			all = append(all, listed{g.group, guidesPath + "/" + g.name, g.title})
		} else if title := russianTitles[g.name]; title != "" {
			all = append(all, listed{russianGroups[g.group], russianPath + "/" + g.name, title})
		}
	}
	return all
}

// render returns the page in the frame of all pages.
func (p written) render(style, script string) []byte {
	var content bytes.Buffer
	if err := renderer().Convert(p.markdown, &content); err != nil {
		panic(err) // writing to memory does not fail
	}
	// Elements that may be wider than the page can be scrolled, also by keyboard.
	scrolled := strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="table" tabindex="0"><table>`,
		"</table>", "</table></div>")
	w, language, index := p.words(), "en", ""
	if p.russian {
		language, index = "ru", ` data-index="guides/ru/index.json"`
	}
	texts := []string{"{{language}}", language, "{{title}}", html.EscapeString(p.title), "{{root}}", p.root(),
		"{{style}}", style, "{{script}}", script, "{{index}}", index, "{{links}}", p.links(), "{{other}}", p.other(),
		"{{contents}}", p.contents(content.String()), "{{around}}", p.around(),
		"{{content}}", highlight(scrolled.Replace(content.String()))}
	for _, text := range []string{"Skip to content", "Account area", "Guides", "API reference", "Search the guides",
		"Documentation", "Site"} {
		texts = append(texts, "{{"+text+"}}", w.in(text))
	}
	return []byte(strings.NewReplacer(texts...).Replace(pageFrame))
}

// other returns the link to the page in the other language, if there is one.
func (p written) other() string {
	if p.russian {
		english := strings.Replace(p.path, russianErrorsPath, errorsPath, 1)
		english = strings.Replace(english, russianPath, guidesPath, 1)
		return fmt.Sprintf("<a href=\"%s\" lang=\"en\" hreflang=\"en\">English</a>\n", p.to(english))
	}
	russian := russianPath + "/" + guides[0].name
	if code, is := strings.CutPrefix(p.path, errorsPath); is {
		russian = russianErrorsPath + code
	} else if name := strings.TrimPrefix(p.path, guidesPath+"/"); russianTitles[name] != "" {
		russian = russianPath + "/" + name
	}
	return fmt.Sprintf("<a href=\"%s\" lang=\"ru\" hreflang=\"ru\">Русский</a>\n", p.to(russian))
}

// contents returns the list of the sections of a page that has some.
func (p written) contents(text string) string {
	var out strings.Builder
	heads := sectionHead.FindAllStringSubmatch(text, -1)
	for _, head := range heads {
		if strings.HasPrefix(head[0], "<h2") {
			fmt.Fprintf(&out, "<li><a href=\"#%s\">%s</a></li>\n", head[1], element.ReplaceAllString(head[2], ""))
		}
	}
	if strings.Count(out.String(), "<li>") < 2 {
		return ""
	}
	return fmt.Sprintf("<nav class=\"contents\" aria-label=\"%s\"><p>%[1]s</p><ul>\n%s</ul></nav>\n",
		p.words().in("On this page"), out.String())
}

// around returns the links to the guides before and after this one.
func (p written) around() string {
	all := p.listed()
	at := slices.IndexFunc(all, func(l listed) bool { return l.path == p.path })
	if at < 0 {
		return ""
	}
	var out strings.Builder
	add := func(i int, rel, text string) {
		if i >= 0 && i < len(all) && all[i].path != p.path {
			fmt.Fprintf(&out, "<a rel=\"%s\" href=\"%s\"><span>%s</span>%s</a>\n", rel, p.to(all[i].path),
				p.words().in(text), all[i].title)
		}
	}
	add(at-1, "prev", "Previous")
	add(at+1, "next", "Next")
	return "<nav class=\"around\" aria-label=\"" + p.words().in("Previous") + ", " + p.words().in("Next") + "\">\n" +
		out.String() + "</nav>\n"
}

// links returns the lines of the navigation. The group of the page is open.
func (p written) links() string {
	var out strings.Builder
	add := func(to, title string) {
		current := ""
		if to == p.path {
			current = ` aria-current="page"`
		}
		fmt.Fprintf(&out, "<li><a href=\"%s\"%s>%s</a></li>\n", p.to(to), current, title)
	}
	group := ""
	begin := func(next string, open bool) {
		if group != "" {
			out.WriteString("</ul></details>\n")
		}
		if group = next; group == "" {
			return
		}
		attribute := ""
		if open {
			attribute = " open"
		}
		fmt.Fprintf(&out, "<details%s><summary>%s</summary><ul>\n", attribute, group)
	}
	all := p.listed()
	for i, l := range all {
		if l.group != group {
			begin(l.group, slices.ContainsFunc(all[i:], func(other listed) bool {
				return other.group == l.group && p.path == other.path
			}))
		}
		add(l.path, l.title)
	}
	begin(p.words().in("Reference"), strings.HasPrefix(p.path, errorsPath))
	if p.russian {
		add(russianErrorsPath, p.words().in("Errors"))
	} else {
		add(errorsPath, "Errors")
	}
	add(explorerPath, p.words().in("API reference"))
	if p.russian {
		add(guidesPath+"/"+guides[0].name, p.words().in("All guides are in English"))
	}
	begin("", false)
	return out.String()
}

// addRussian adds the guides in Russian, with an index of their own.
func (h handler) addRussian(style, script string) {
	h[russianPath+"/index.json"] = &page{content: content(func() []byte { return guideIndex(true) }),
		kind: "application/json"}
	for name, title := range russianTitles {
		path := russianPath + "/" + name
		h[path] = &page{kind: htmlType, policy: pagePolicy, content: content(func() []byte {
			return written{path, title, guideText("ru/" + name), true}.render(style, script)
		})}
	}
}
