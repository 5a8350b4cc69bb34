package adapter_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
)

// shape returns the names of the places in all texts of a value, by their path.
func shape(path string, v reflect.Value, into map[string]string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			shape(path+"."+v.Type().Field(i).Name, v.Field(i), into)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			shape(path+"."+key.String(), v.MapIndex(key), into)
		}
	case reflect.Slice:
		for i := range v.Len() {
			shape(path+"[]", v.Index(i), into)
		}
		into[path+" count"] = string(rune('0' + v.Len()))
	case reflect.String:
		places := regexp.MustCompile(`{\w+}`).FindAllString(v.String(), -1)
		slices.Sort(places)
		for _, p := range places {
			into[path] += p
		}
		if v.String() == "" {
			into[path] = "empty"
		}
	}
}

// Each language has all texts, with the same places to fill.
func TestLanguagesHaveTheSameTexts(t *testing.T) {
	want := map[string]string{}
	shape("", reflect.ValueOf(samples.Of("en")), want)
	if len(want) < 10 {
		t.Fatalf("English has %v", want)
	}
	for _, language := range samples.Languages {
		got := map[string]string{}
		shape("", reflect.ValueOf(samples.Of(language)), got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %v, want %v", language, got, want)
		}
		for _, texts := range [][]string{samples.Of(language).Angles, samples.Of(language).Twists} {
			if sorted := slices.Sorted(slices.Values(texts)); len(slices.Compact(sorted)) != len(texts) {
				t.Errorf("%s has a text twice in %q", language, texts)
			}
		}
	}
}

// written are the languages in which the sandbox writes texts of content.
var written = strings.Fields("ar bg cs da de el en es fi fr he hi hu id it " +
	"ja ko nb nl pl pt ro ru sv th tr uk vi zh zh-hant")

func TestLinesOfAllLanguagesHaveTheSameShape(t *testing.T) {
	if !slices.Equal(samples.Written(), written) {
		t.Errorf("texts are written in %v", samples.Written())
	}
	want := map[string]string{}
	shape("", reflect.ValueOf(samples.LinesOf("en")), want)
	if len(samples.LinesOf("en").Body) != 5 || len(samples.LinesOf("en").Close) != 7 {
		t.Fatalf("English has %v", want)
	}
	for _, language := range written {
		got := map[string]string{}
		shape("", reflect.ValueOf(samples.LinesOf(language)), got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %v, want %v", language, got, want)
		}
	}
	for tag, want := range map[string]string{"ja-JP": "ja", "zh-Hant-TW": "zh-hant", "zh_HK": "zh-hant",
		"zh-CN": "zh", "uk": "uk", "no": "nb", "sw": "en", "": "en"} {
		if got := samples.WrittenIn(tag); got != want {
			t.Errorf("%q is written in %s, want %s", tag, got, want)
		}
	}
}

// A text has a first line of each kind, of which one opens the caption, and the first scene does not repeat it. News
// lead with what is known. Hashtags and short versions keep the bounds that are asked for.
func TestTextsKeepTheRulesOfTheCraft(t *testing.T) {
	for _, language := range written {
		for seed := range uint32(7) {
			for _, of := range []string{"news", "seller"} {
				text := samples.Write(samples.Order{Language: language, Topic: samples.LinesOf(language).Subject,
					Seed: seed, Scenes: 4, Seconds: 20, Hashtags: 2, Slides: 10,
					Short: []provider.ShortVersion{{Platform: "x", Characters: 60}},
					About: provider.About{Kind: "video", Type: of}})
				opening, _, _ := strings.Cut(text.Caption, "\n")
				if len(text.Hooks) != 3 || len(text.HookKinds) != 3 || text.Hooks[text.Hook-1] != opening ||
					strings.Contains(text.Scenes[0].Text, opening) {
					t.Errorf("%s: %+v", language, text)
				}
				if news := text.HookKinds[0] == "news"; news != (of == "news") || news && text.Hook != 1 {
					t.Errorf("%s of %s begins with the kind %s", language, of, text.HookKinds[text.Hook-1])
				}
				if len(text.Hashtags) > 2 || len(text.Short) != 1 || len([]rune(text.Short[0].Caption)) > 60 {
					t.Errorf("%s: %v, %v", language, text.Hashtags, text.Short)
				}
				headings := map[string]bool{}
				for _, s := range text.Slides {
					headings[s.Heading] = true
				}
				if len(headings) != 10 {
					t.Errorf("%s has the headings %v", language, headings)
				}
			}
		}
	}
}

// A topic in another script would make the text one in another language.
func TestATopicInAnotherScriptStaysOut(t *testing.T) {
	for language, topic := range map[string]string{"ar": "Our new shoe", "ja": "Our new shoe",
		"de": "Наши новые кроссовки", "ru": "Our new shoe", "hi": "Our new shoe", "ko": "Our new shoe"} {
		text := samples.Write(samples.Order{Language: language, Topic: topic, Pictures: 1,
			About: provider.About{Channel: topic}})
		if all := text.Title + text.Caption + text.Pictures[0].Alt; strings.Contains(all, topic) {
			t.Errorf("%s: %s", language, all)
		}
	}
	if text := samples.Write(samples.Order{Language: "ar", Topic: "حذاء جديد"}); text.Title != "حذاء جديد" {
		t.Errorf("%+v", text)
	}
}

func TestTextsAreFilled(t *testing.T) {
	got := samples.Fill("{Topic}: {name} has {topic}.", "topic", "éclairs", "name", "acme")
	if want := "Éclairs: acme has éclairs."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for tag, want := range map[string]string{"de-AT": "de", "PT": "pt", "sw": "en", "": "en"} {
		if got := samples.Language(tag); got != want {
			t.Errorf("%q has the texts of %s, want %s", tag, got, want)
		}
	}
}
