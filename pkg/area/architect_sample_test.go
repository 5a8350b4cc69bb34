package area_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/area/architect"
)

// architectAsked returns the calls that a message leads to, as one text, or the immediate reply.
func architectAsked(t *testing.T, text string) string {
	t.Helper()
	turn, err := architect.SampleAssistant{}.Converse(t.Context(),
		provider.Conversation{Turns: []provider.Turn{{Text: text}}})
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
		"A shop-factory for shoes, three posts a day":                   `draft_factory {"body":{"description":"Shoes","language":"en","name":"Shoes","schedule":{"timezone":"UTC","times":["09:00","15:00","21:00"]},"settings":{"currency":"USD"},"topics":["Shoes"],"type":"seller"}}`,
		"I want a Russian store factory about sneakers, 1 post per day": `draft_factory {"body":{"description":"Sneakers","language":"ru","name":"Sneakers","schedule":{"timezone":"UTC","times":["09:00"]},"settings":{"currency":"RUB"},"topics":["Sneakers"],"type":"seller"}}`,
		"Create a factory": `draft_factory {"body":{"language":"en","name":"Brand","settings":{"brand_name":"Brand"},"topics":["Brand"],"type":"brand"}}`,
		"A factory of an expert about tax law, please":              `draft_factory {"body":{"description":"Tax law","language":"en","name":"Tax law","settings":{"field":"Tax law"},"topics":["Tax law"],"type":"expert"}}`,
		"I need a Spanish factory for a band about Andean rock":     `draft_factory {"body":{"description":"A band about Andean rock","language":"es","name":"A band about Andean rock","settings":{"artist_name":"A band about Andean rock","genres":["A band about Andean rock"]},"topics":["A band about Andean rock"],"type":"musician"}}`,
		"A news factory about chess in Portuguese":                  `draft_factory {"body":{"description":"Chess","language":"pt","name":"Chess","topics":["Chess"],"type":"news"}}`,
		"An entertainment factory for cats in Berlin":               `draft_factory {"body":{"description":"Cats in Berlin","language":"en","name":"Cats in Berlin","topics":["Cats in Berlin"],"type":"entertainment"}}`,
		"A blog factory about élan in French, please":               `draft_factory {"body":{"description":"Élan","language":"fr","name":"Élan","topics":["Élan"],"type":"blogger"}}`,
		"Make a plan for two weeks, three posts a day":              `draft_content_plan {"body":{"days":14,"posts_per_day":3}}`,
		"A calendar of 30 days about trail running":                 `draft_content_plan {"body":{"brief":"trail running","days":30,"posts_per_day":1}}`,
		"A plan of 400 days, 99 posts a day":                        `draft_content_plan {"body":{"days":90,"posts_per_day":10}}`,
		"A plan of 0 days":                                          `draft_content_plan {"body":{"days":1,"posts_per_day":1}}`,
		"Please plan":                                               `draft_content_plan {"body":{"days":7,"posts_per_day":1}}`,
		"Write a carousel about trail shoes":                        `draft_content_item {"body":{"kind":"carousel","prompt":"trail shoes"}}`,
		"A post for Monday: new shoes":                              `draft_content_item {"body":{"kind":"post","prompt":"Monday"}}`,
		"Stories, please":                                           `draft_content_item {"body":{"kind":"story","prompt":"Stories, please"}}`,
		"Ein Video":                                                 `draft_content_item {"body":{"kind":"video","prompt":"Ein Video"}}`,
		"How is my factory doing?":                                  `read_factory {}read_analytics {}`,
		"Which factories do I have?":                                `list_factories {}`,
		"Are there proposals?":                                      `list_proposals {}`,
		"Which models are there?":                                   `list_models {"kind":"image"}`,
		"Hello":                                                     "Tell me what you need",
		"Привет":                                                    "Скажите, что нужно",
		"\x00\x01":                                                  "Tell me what you need",
		"A factory of a brand about \x01":                           `"name":"Brand"`,
		"Create " + strings.Repeat("a factory for ", 200) + "shoes": `"type":"brand"`,
	} {
		got := architectAsked(t, text)
		if calls, ok := strings.CutPrefix(want, "draft_"); ok {
			name, input, _ := strings.Cut(calls, " ")
			var is, wanted any
			if err := json.Unmarshal([]byte(strings.TrimPrefix(got, "draft_"+name+" ")), &is); err != nil ||
				json.Unmarshal([]byte(input), &wanted) != nil {
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

func TestEachLanguageIsUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		"Set up a factory": `draft_factory {"body":{"language":"en","name":"Brand",`,
		"Настрой фабрику для магазина обуви":                              `draft_factory {"body":{"description":"Магазина обуви","language":"ru",`,
		"Создай карусель о том, как выбрать обувь":                        `draft_content_item {"body":{"kind":"carousel","prompt":"как выбрать обувь"}}`,
		"Составь план на две недели, три поста в день":                    `draft_content_plan {"body":{"days":14,"posts_per_day":3}}`,
		"Смени тон на дружелюбный":                                        `draft_factory_change {"body":{"tone":"дружелюбный"}}`,
		"Как дела у фабрики?":                                             `read_factory {}`,
		"Какие есть предложения?":                                         `list_proposals {}`,
		"Erstelle eine Fabrik für einen Schuhladen, zwei Beiträge am Tag": `"language":"de","name":"Schuhladen","schedule":{"times":["09:00","21:00"],"timezone":"UTC"},"settings":{"currency":"EUR"}`,
		"Mach einen Plan für drei Wochen über Laufschuhe":                 `draft_content_plan {"body":{"brief":"Laufschuhe","days":21,"posts_per_day":1}}`,
		"Ändere den Tonfall auf sachlich":                                 `draft_factory_change {"body":{"tone":"sachlich"}}`,
		"Crea una fábrica de una tienda sobre zapatos":                    `draft_factory {"body":{"description":"Zapatos","language":"es","name":"Zapatos","settings":{"currency":"EUR"},"topics":["Zapatos"],"type":"seller"}}`,
		"Haz un plan para dos semanas, dos posts al día":                  `draft_content_plan {"body":{"days":14,"posts_per_day":2}}`,
		"Crée une fabrique de marque pour le thé":                         `"language":"fr","name":"Le thé"`,
		"Fais un plan de deux semaines sur le thé":                        `draft_content_plan {"body":{"brief":"le thé","days":14,"posts_per_day":1}}`,
		"Crea una fabbrica per un negozio di scarpe":                      `"language":"it","name":"Negozio di scarpe"`,
		"Fai un piano per due settimane, tre post al giorno":              `draft_content_plan {"body":{"days":14,"posts_per_day":3}}`,
		"Crie uma fábrica de uma loja sobre tênis":                        `"language":"pt","name":"Tênis","settings":{"currency":"BRL"}`,
		"Faça um plano para duas semanas":                                 `draft_content_plan {"body":{`,
		"Mude o tom para caloroso":                                        `draft_factory_change {"body":{"tone":"caloroso"}}`,
		"Change the topics to tea, coffee, cocoa":                         `draft_factory_change {"body":{"topics":["tea","coffee","cocoa"]}}`,
		"Pause the factory":                                               `draft_factory_change {"body":{"state":"paused"}}`,
		"Improve my factory":                                              `draft_factory_change {"body":{"audience":"Adults`,
		"How are my factories doing?":                                     `read_factory {}read_analytics {}`,
		"Hallo, wie kann ich das hier benutzen":                           "Sag mir, was du brauchst",
		"Quais são minhas fábricas":                                       `list_factories {}`,
	} {
		if got := architectAsked(t, text); !strings.Contains(got, want) {
			t.Errorf("%q has led to %s, want %s", text, got, want)
		}
	}
}

// Each language has the same words to say, and all lists.
func TestLanguagesAreComplete(t *testing.T) {
	places := regexp.MustCompile(`{\w+}`)
	shape := func(language string) string {
		raw, err := os.ReadFile("architect/words/" + language + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		var all []string
		for name, value := range doc {
			all = append(all, name)
			if members, ok := value.(map[string]any); ok {
				for member, text := range members {
					said, _ := text.(string)
					all = append(all, name+"."+member+strings.Join(places.FindAllString(said, -1), ""))
				}
			}
			if list, ok := value.([]any); ok && (len(list) == 0 || name == "numbers" && len(list) != 11) {
				t.Errorf("%s has %d words of %s", language, len(list), name)
			}
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	for _, language := range samples.Languages {
		if got, want := shape(language), shape("en"); got != want {
			t.Errorf("%s has %s\nwant %s", language, got, want)
		}
	}
}

// A chat about no factory is about the newest one.
func TestAFactoryIsLookedFor(t *testing.T) {
	c := provider.Conversation{System: "The chat is " + architect.NoFactory + ".",
		Turns: []provider.Turn{{Text: "Plan two weeks"}}}
	for _, step := range []struct{ calls, result, text string }{
		{`list_factories {}`, `{"factories":[{"id":"fac_2"},{"id":"fac_1"}]}`, ""},
		{`draft_content_plan {"body":{"days":14,"posts_per_day":1},"factory_id":"fac_2"}`,
			`{"draft":{"body":{"days":14,"posts_per_day":1}}}`, ""},
		{"", "", "14 days"},
	} {
		turn, err := architect.SampleAssistant{}.Converse(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		calls := ""
		for _, call := range turn.Calls {
			calls += call.Name + " " + string(call.Input)
		}
		if calls != step.calls || !strings.Contains(turn.Text, step.text) {
			t.Errorf("%q, %q; want %q", calls, turn.Text, step.calls)
		}
		c.Turns = append(c.Turns, turn, provider.Turn{Results: []provider.ToolResult{{ID: "call_1",
			Content: json.RawMessage(step.result)}}})
	}
	c.Turns = []provider.Turn{{Text: "Составь план"}, {Model: true, Calls: []provider.ToolCall{{ID: "call_1",
		Name: "list_factories"}}}, {Results: []provider.ToolResult{{ID: "call_1", Content: json.RawMessage(
		`{"factories":[]}`)}}}}
	if turn, err := (architect.SampleAssistant{}).Converse(t.Context(), c); err != nil || len(turn.Calls) > 0 ||
		!strings.Contains(turn.Text, "Фабрики пока нет") {
		t.Errorf("%+v, %v", turn, err)
	}
}

func TestWhatIsSaid(t *testing.T) {
	for _, c := range []struct {
		text, tool, result, want string
	}{
		{"A factory for shoes", "draft_factory", `{"draft":{"kind":"factory","body":{"name":"Shoes"}}}`,
			"the factory “Shoes”"},
		{"A plan", "draft_content_plan", `{"draft":{"body":{"days":7,"posts_per_day":2}}}`, "7 days with 2 items"},
		{"A post about socks", "draft_content_item", `{"draft":{"body":{"prompt":"socks"}}}`, "“socks”"},
		{"A post about socks", "draft_content_item",
			`{"error":{"code":"invalid_state","message":"The factory is paused."}}`,
			"That does not work: The factory is paused."},
		{"Which factories are there?", "list_factories", `{"factories":[{"id":"fac_1","name":"Acme"}]}`,
			"found 1: Acme (fac_1)"},
		{"Which proposals are there?", "list_proposals", `{"proposals":[{"id":"prp_1","title":"Write more"}]}`,
			"found 1: Write more (prp_1)"},
		{"Which models are there?", "list_models",
			`{"models":[{"id":"flux","name":"FLUX"},{"id":"core","name":"Core"}]}`,
			"found 2: FLUX (flux), Core (core)"},
		{"Смени тон на тёплый", "draft_factory_change", `{"draft":{"body":{"tone":"тёплый"}}}`,
			"Черновик изменения фабрики готов: tone = тёплый. Проверьте"},
		{"Составь план", "draft_content_plan", `{"error":{"code":"invalid_state","message":"The factory is paused."}}`,
			"Так не получится: invalid_state"},
		{"How is it doing?", "read_factory", `{"factory":{"name":"Acme","type":"brand"}}`,
			"the factory “Acme”, a brand"},
		{"How is the factory doing?", "read_analytics", `{"analytics":{"totals":{"made":5,"failed":1,"published":3}}}`,
			"made 5 items; 1 attempts failed, and there were 3 publications"},
	} {
		turns := []provider.Turn{
			{Text: c.text}, {Model: true, Calls: []provider.ToolCall{{ID: "1", Name: c.tool,
				Input: json.RawMessage("{}")}}},
			{Results: []provider.ToolResult{{ID: "1", Content: json.RawMessage(c.result)}}},
		}
		turn, err := architect.SampleAssistant{}.Converse(t.Context(), provider.Conversation{Turns: turns})
		if err != nil || len(turn.Calls) != 0 || !strings.Contains(turn.Text, c.want) {
			t.Errorf("%s: %+v, %v", c.tool, turn, err)
		}
	}
}
