package sample_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/architect/sample"
)

// asked returns the calls that a message leads to, as one text, or what is said at once.
func asked(t *testing.T, text string) string {
	t.Helper()
	turn, err := sample.Assistant{}.Converse(t.Context(), provider.Conversation{Turns: []provider.Turn{{Text: text}}})
	if err != nil || !turn.Model {
		t.Fatalf("%+v, %v", turn, err)
	}
	var all []string
	for _, c := range turn.Calls {
		all = append(all, c.Name+" "+string(c.Input))
	}
	return strings.Join(append(all, turn.Text), "")
}

func TestWhatIsUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		"A seller factory for running shoes in German, two posts a day": `draft_factory {"body":{"description":"Running shoes","language":"de","name":"Running shoes","schedule":{"timezone":"UTC","times":["09:00","21:00"]},"settings":{"currency":"EUR"},"topics":["Running shoes"],"type":"seller"}}`,
		"Eine Verkäufer-Fabrik für Laufschuhe, drei Beiträge am Tag":    `draft_factory {"body":{"description":"Laufschuhe","language":"de","name":"Laufschuhe","schedule":{"timezone":"UTC","times":["09:00","15:00","21:00"]},"settings":{"currency":"EUR"},"topics":["Laufschuhe"],"type":"seller"}}`,
		"Хочу фабрику-магазин про кроссовки, 1 пост в день":             `draft_factory {"body":{"description":"Кроссовки","language":"ru","name":"Кроссовки","schedule":{"timezone":"UTC","times":["09:00"]},"settings":{"currency":"RUB"},"topics":["Кроссовки"],"type":"seller"}}`,
		"Create a factory": `draft_factory {"body":{"language":"en","name":"Brand","settings":{"brand_name":"Brand"},"topics":["Brand"],"type":"brand"}}`,
		"A factory of an expert about tax law, please":        `draft_factory {"body":{"description":"Tax law","language":"en","name":"Tax law","settings":{"field":"Tax law"},"topics":["Tax law"],"type":"expert"}}`,
		"Quiero una fábrica para una banda sobre rock andino": `draft_factory {"body":{"description":"Una banda sobre rock andino","language":"es","name":"Una banda sobre rock andino","settings":{"artist_name":"Una banda sobre rock andino","genres":["Una banda sobre rock andino"]},"topics":["Una banda sobre rock andino"],"type":"musician"}}`,
		"Make a plan for two weeks, three posts a day":        `draft_content_plan {"body":{"days":14,"posts_per_day":3}}`,
		"Un plan de contenu pour 30 jours":                    `draft_content_plan {"body":{"days":30,"posts_per_day":1}}`,
		"A plan of 400 days, 99 posts a day":                  `draft_content_plan {"body":{"days":90,"posts_per_day":10}}`,
		"Write a carousel about trail shoes":                  `draft_content_item {"body":{"kind":"carousel","prompt":"trail shoes"}}`,
		"Ein Video":                                           `draft_content_item {"body":{"kind":"video","prompt":"Ein Video"}}`,
		"How is my factory doing?":                            `read_factory {}read_analytics {}`,
		"Which factories do I have?":                          `list_factories {}`,
		"Gibt es Vorschläge?":                                 `list_proposals {}`,
		"Which models are there?":                             `list_models {"kind":"image"}`,
		"Hello":                                               "Tell me what you need",
		"Guten Tag, ich bin die Anna":                         "Sagen Sie mir, was Sie brauchen",
		"Je ne sais pas":                                      "Dites-moi",
		"Привет":                                              "Скажите, что нужно",
		"Não sei o que quero para a loja e como":              "Diga-me",
		"No sé qué es eso y para qué":                         "Dígame",
		"\x00\x01":                                            "Tell me what you need",
		"Create " + strings.Repeat("a factory for ", 200) + "running shoes": `"type":"brand"`,
	} {
		got := asked(t, text)
		if calls, ok := strings.CutPrefix(want, "draft_"); ok {
			name, input, _ := strings.Cut(calls, " ")
			var is, wanted any
			if err := json.Unmarshal([]byte(strings.TrimPrefix(got, "draft_"+name+" ")), &is); err != nil || json.Unmarshal([]byte(input), &wanted) != nil {
				t.Errorf("%q has led to %s", text, got)
				continue
			}
			a, _ := json.Marshal(is)
			b, _ := json.Marshal(wanted)
			if string(a) != string(b) {
				t.Errorf("%q has led to\n%s, want\n%s", text, a, b)
			}
		} else if !strings.Contains(got, want) {
			t.Errorf("%q has led to %s, want %s", text, got, want)
		}
	}
}

func TestWhatIsSaid(t *testing.T) {
	for _, c := range []struct {
		text, tool, result, want string
	}{
		{"Eine Fabrik für Schuhe", "draft_factory", `{"draft":{"kind":"factory","body":{"name":"Schuhe"}}}`, "„Schuhe“"},
		{"A plan", "draft_content_plan", `{"draft":{"body":{"days":7,"posts_per_day":2}}}`, "7 days with 2 items"},
		{"A post about socks", "draft_content_item", `{"draft":{"body":{"prompt":"socks"}}}`, "“socks”"},
		{"A post about socks", "draft_content_item", `{"error":{"code":"invalid_state","message":"The factory is paused."}}`, "That does not work: The factory is paused."},
		{"Which factories are there?", "list_factories", `{"factories":[{"id":"fac_1","name":"Acme"}]}`, "1 factories. Acme (fac_1)"},
		{"Which proposals are there?", "list_proposals", `{"proposals":[{"title":"Write more"}]}`, "Write more"},
		{"Which models are there?", "list_models", `{"models":[{"id":"flux"},{"id":"core"}]}`, "flux, core"},
		{"Wie läuft es?", "read_factory", `{"factory":{"name":"Acme","type":"brand"}}`, "Fabrik „Acme“ (brand)"},
		{"Wie läuft die Fabrik?", "read_analytics", `{"analytics":{"totals":{"made":5,"failed":1,"published":3}}}`, "5 Inhalte gemacht; 1 Versuche"},
	} {
		turns := []provider.Turn{
			{Text: c.text}, {Model: true, Calls: []provider.ToolCall{{ID: "1", Name: c.tool, Input: json.RawMessage("{}")}}}, {Results: []provider.ToolResult{{ID: "1", Content: json.RawMessage(c.result)}}},
		}
		turn, err := sample.Assistant{}.Converse(t.Context(), provider.Conversation{Turns: turns})
		if err != nil || len(turn.Calls) != 0 || !strings.Contains(turn.Text, c.want) {
			t.Errorf("%s: %+v, %v", c.tool, turn, err)
		}
	}
}
