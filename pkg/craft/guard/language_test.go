package guard

import (
	"os"
	"strings"
	"testing"
)

// product are the languages of texts that the guards know best.
const product = "ar de en es fr he hi it ja ko pl pt ru th tr uk vi zh"

// The text of each of 41 languages passes as its own. One in a language of the product passes as no other one, and few
// of the others do: those of neighbours have the same frequent words.
func TestLanguagesAreTold(t *testing.T) {
	raw, err := os.ReadFile("testdata/languages.tsv")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		code, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		texts[code] = text
	}
	if len(texts) < 40 {
		t.Errorf("%d languages are compared", len(texts))
	}
	passed := []string{}
	for code, text := range texts {
		for as := range texts {
			found := Rules{Language: as}.language([]Field{{Text: text}})
			switch {
			case code == as && len(found) > 0:
				t.Errorf("%s: %v", code, found)
			case code == as || len(found) > 0:
			case strings.Contains(product, code) && code+as != "ukbg":
				t.Errorf("the text in %s passes as %s", code, as)
			default:
				passed = append(passed, code+" as "+as)
			}
		}
	}
	if len(passed) > 40 {
		t.Errorf("%d pairs of 1,640 pass: %v", len(passed), passed)
	}
}

// English carousels pass as no other language, although their slides are short.
func TestShortEnglishTextsAreTold(t *testing.T) {
	slides := []Field{{Text: "The first question"}, {Text: "What do you think?"},
		{Text: "Three answers from our customers"},
		{Text: "Tell us which one is yours"}}
	for _, language := range strings.Fields("vi cs da nb fi sk hu ro id ms hr lt sw tl de fr pl tr et lv sl sq is " +
		"az ca af ga cy eu mt so uz bs eo ha zu") {
		if len(Rules{Language: language}.language(slides)) == 0 {
			t.Errorf("they pass as %s", language)
		}
	}
}

// Texts in languages without a list of words are not in English, although some of their words look so.
func TestUnlistedLanguagesAreNotEnglish(t *testing.T) {
	for language, text := range map[string]string{
		"af": "Ons bak elke dag vars brood in ons klein winkel. Wat was jy gewoond om te eet? Ons wil dit hoor, want ons is so nuuskierig.",
		"cy": "Rydym yn pobi bara ffres bob dydd yn ein siop fach. Dewch draw yn y bore am baned o goffi a sgwrs gyda ni.",
		"ga": "Bácálaimid arán úr gach lá inár siopa beag. Tar ar maidin agus bíodh cupán caife agat linn.",
		"eu": "Egunero ogi freskoa egiten dugu gure denda txikian. Etorri goizean eta hartu kafe bat gurekin.",
		"bs": "Svaki dan pečemo svježi hljeb u našoj maloj radnji. Dođite ujutro na kafu s nama.",
		"zu": "Sibhaka isinkwa esisha nsuku zonke esitolo sethu esincane. Woza ekuseni uzophuza ikhofi nathi.",
	} {
		if found := (Rules{Language: language}).language([]Field{{Text: text}}); len(found) > 0 {
			t.Errorf("%s: %v", language, found)
		}
	}
}
