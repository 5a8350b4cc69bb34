package samples_test

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

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
	if len(want) < 20 || len(samples.Of("en").Open) != 7 || len(samples.Of("en").Body) != 5 {
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
