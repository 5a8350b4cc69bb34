package docs

import (
	_ "embed"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/errs"
)

// russianErrorsPath is the path of the pages of the error codes in Russian.
const russianErrorsPath = errorsPath + "/ru"

// errorTexts has a line for each code: the code, its meaning, when it is returned, and what to do, in Russian.
//
//go:embed errors-ru.tsv
var errorTexts string

// inRussian returns the description of a code in Russian. Its example stays English, as the messages of the API are.
func inRussian(i errs.Info) errs.Info {
	row := russianErrors()[string(i.Code)]
	i.Meaning, i.When, i.Fix = row[1], row[2], row[3]
	i.Retry = russianRetries[i.Retry]
	return i
}

var russianErrors = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(errorTexts) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		all[row[0]] = row
	}
	return all
})

var russianRetries = map[errs.Retry]errs.Retry{
	errs.Never:  "Не повторяйте запрос без изменений: ответ останется тем же.",
	errs.Later:  "Повторите запрос через секунды из `Retry-After`, с тем же `Idempotency-Key`.",
	errs.Again:  "Повторите запрос с тем же `Idempotency-Key`. Он подействует не больше одного раза.",
	errs.Reread: "Прочитайте ресурс, решите заново и отправьте новый запрос.",
}

// addRussianErrors adds the pages of the error codes in Russian.
func (h handler) addRussianErrors(style, script string) {
	add := func(path, title string, markdown func() []byte) {
		h[path] = &page{kind: htmlType, policy: pagePolicy, content: content(func() []byte {
			return written{path, title, markdown(), true}.render(style, script)
		})}
	}
	add(russianErrorsPath, "Ошибки", russianErrorIndex)
	for _, info := range errs.Infos {
		add(russianErrorsPath+"/"+string(info.Code), string(info.Code), func() []byte { return russianErrorPage(info) })
	}
}

// russianErrorIndex returns the page of all codes in Russian.
func russianErrorIndex() []byte {
	var out strings.Builder
	out.WriteString("# Ошибки\n\nОтвет не 2xx содержит `error`:\n\n```json\n" +
		example(errs.InfoOf(errs.InsufficientBalance)) + "\n```\n\n" +
		"| Поле | Значение |\n|---|---|\n" +
		"| `code` | Что не так, для программ. Код никогда не меняет смысла |\n" +
		"| `message` | Что не так и что делать, для разработчиков. Текст может измениться |\n" +
		"| `type` | Вид ошибки, по статусу |\n" +
		"| `param` | Виноватое поле или параметр: указатель JSON, например `/settings/brand_name`, или имя |\n" +
		"| `details` | При `validation_failed`: все ошибки, с `param` и `message` |\n" +
		"| `context` | Данные кода, например сколько не хватает кредитов |\n" +
		"| `doc_url` | Страница о коде |\n\n" +
		"Решайте по `code`, пишите в журнал `message` и `request_id`. Когда повторять запрос, говорит руководство " +
		"[Лимиты и ошибки](../guides/ru/limits).\n\n## Коды\n\n| Статус | Код | Значение |\n|---|---|---|\n")
	for _, i := range errs.Infos {
		fmt.Fprintf(&out, "| %d | [`%s`](ru/%[2]s) | %s |\n", i.Status, i.Code, inRussian(i).Meaning)
	}
	out.WriteString("\nОтвет 502 другой формы может прийти от шлюза. Поступайте с ним как с " +
		"[`internal`](ru/internal).\n")
	return []byte(out.String())
}

// russianErrorPage returns the page of a code in Russian.
func russianErrorPage(info errs.Info) []byte {
	i := inRussian(info)
	return fmt.Appendf(nil, "# `%s`\n\n%s\n\n| Статус | Тип |\n|---|---|\n| %d %s | `%s` |\n\n"+
		"## Когда\n\n%s\n\n## Что делать\n\n%s\n\n## Повторять запрос?\n\n%s\n\n"+
		"## Пример\n\n```json\n%s\n```\n\n[Все коды](../ru) · [Справочник API](../../explorer)\n",
		i.Code, i.Meaning, i.Status, http.StatusText(i.Status), i.Type, i.When, i.Fix, i.Retry, example(info))
}
