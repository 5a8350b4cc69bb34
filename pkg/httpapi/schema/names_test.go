package schema

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTypesAreNamedByTheirPackages(t *testing.T) {
	for _, c := range []struct{ place, name, want string }{
		{"area/training", "Failure", "TrainingFailure"},
		{"area/training", "Training", "Training"},
		{"area/plan", "Plan", "ContentPlan"},
		{"record/apikey", "Key", "ApiKey"},
		{"area/content/item", "PublicationFailure", "PublicationFailure"},
		{"httpapi", "ErrorBody", "ErrorBody"},
		{"area/architect", "rehearsal", "ChatRehearsal"},
		{"area/product", "createBody", "ProductCreate"},
		{"area/product", "patchBody", "ProductUpdate"},
		{"area/product", "photoBody", "ProductPhotoCreate"},
		{"area/product", "pricePatch", "ProductPriceUpdate"},
		{"area/apikey", "rotateBody", "ApiKeyRotate"},
		{"area/estimate", "body", "EstimateCreate"},
	} {
		if got := nameOf(subjectOf(c.place), c.name); got != c.want {
			t.Errorf("%s.%s is named %s, want %s", c.place, c.name, got, c.want)
		}
	}
}

// TestExceptionsAreNeeded holds the tables against the code: their types exist, and the
// rule would name them otherwise.
func TestExceptionsAreNeeded(t *testing.T) {
	for place, subject := range subjects {
		last := place[strings.LastIndex(place, "/")+1:]
		if strings.EqualFold(last, subject) && subject[1:] == last[1:] {
			t.Errorf("%s has the subject %s without the table", place, subject)
		}
		if _, err := os.Stat(filepath.Join("..", "..", place)); err != nil {
			t.Error(err)
		}
	}
	for key, name := range names {
		place, of, _ := strings.Cut(key, ".")
		if nameOf(subjectOf(place), of) == name {
			t.Errorf("%s is named %s without the table", key, name)
		}
		declared := regexp.MustCompile(`(?m)^type ` + of + `\b`)
		files, err := filepath.Glob(filepath.Join("..", "..", place, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || declared.Match(code)
		}
		if !found {
			t.Errorf("there is no type %s", key)
		}
	}
}
