package httpapi

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type byFactory struct {
	FactoryID string `query:"factory_id"`
}

// The parameters that take ids are found in the input and in what it embeds. Others are not ids of a resource.
func TestParametersThatTakeIDsAreKnown(t *testing.T) {
	in := reflect.TypeFor[struct {
		byFactory
		ItemID    string   `query:"content_item_id"`
		KeyID     string   `query:"key_id"`
		RequestID string   `query:"request_id"`
		Operation string   `query:"operation_id"`
		State     []string `query:"state"`
		Path      string   `path:"factory_id"`
	}]()
	if got := idParameters(in); !slices.Equal(got, []string{"content_item_id", "factory_id", "key_id"}) {
		t.Errorf("%v", got)
	}
}

// What is no id of the kind is refused, and names what was sent. An id of nobody is one.
func TestAFilterTakesAnIDOfItsKind(t *testing.T) {
	names := []string{"factory_id", "key_id"}
	for query, want := range map[string]string{
		"": "", "factory_id=": "", "other_id=x": "",
		"factory_id=fac_01h455vb4pex5vsknk084sn02q":                                "",
		"key_id=key_01h455vb4pex5vsknk084sn02q":                                    "",
		"factory_id=x":                                                             "factory_id: \"x\" is not an id of this API",
		"factory_id=cnt_01h455vb4pex5vsknk084sn02q":                                "is the id of a content item; this takes a factory id",
		"factory_id=fac_01h4":                                                      "is not a whole id",
		"key_id=fac_01h455vb4pex5vsknk084sn02q":                                    "is the id of a factory",
		"factory_id=fac_01h455vb4pex5vsknk084sn02q,fac_01h455vb4pex5vsknk084sn02r": "factory_id",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		err = checkIDs(values, names)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
}
