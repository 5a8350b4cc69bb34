package store_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store"
)

// watched opens a table, and notes the item of the last put.
func watched(t *testing.T) (db *store.DB, put *map[string]types.AttributeValue) {
	put = &map[string]types.AttributeValue{}
	return storetest.Open(t, time.Now, func(cfg *aws.Config) {
		cfg.APIOptions = append(cfg.APIOptions, func(s *middleware.Stack) error {
			return s.Initialize.Add(middleware.InitializeMiddlewareFunc("watch",
				func(ctx context.Context, in middleware.InitializeInput,
					next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					if p, ok := in.Parameters.(*dynamodb.PutItemInput); ok {
						*put = p.Item
					}
					return next.HandleInitialize(ctx, in)
				}), middleware.Before)
		})
	}), put
}

// long is a name that makes a document of more than a kilobyte.
var long = strings.Repeat("trail running shoe ", 80)

func TestDocumentsAreCompressedWhereThatSavesAUnit(t *testing.T) {
	db, put := watched(t)
	noise := make([]byte, 1700)
	for i, state := 0, uint32(1); i < len(noise); i++ {
		state = state*1664525 + 1013904223
		noise[i] = byte('A' + (state>>16)%26 + (state>>24)%2*32)
	}
	for id, c := range map[string]struct {
		name   string
		packed bool
	}{"small": {"made", false}, "large": {long, true}, "noise, no unit less": {string(noise), false}} {
		commit(t, db, func(tx *store.Tx) { tx.Create(thing(t, id, c.name), nil) })
		_, text := (*put)["doc"]
		_, packed := (*put)["packed"]
		if packed != c.packed || text == packed {
			t.Errorf("%s: packed %v, as a text %v", id, packed, text)
		}
		it, name := get(t, db, id)
		if name != c.name {
			t.Errorf("%s: the name is %q", id, name)
		}
		raw, err := store.Unpack(*put)
		if doc, ok := raw["doc"].(*types.AttributeValueMemberS); err != nil || !ok || doc.Value != string(it.Doc) ||
			raw["packed"] != nil {
			t.Errorf("%s: unpacked: %v, %v", id, raw, err)
		}
	}
}

func TestACompressedDocumentIsReadEverywhere(t *testing.T) {
	db, put := watched(t)
	commit(t, db, func(tx *store.Tx) { tx.Create(thing(t, "thing_1", long), nil) })
	it, _ := get(t, db, "thing_1")
	has := func(where string, it store.Item, err error) {
		t.Helper()
		var d doc
		if err == nil {
			err = it.Decode(&d)
		}
		if err != nil || d.Name != long {
			t.Errorf("%s: %d characters, %v", where, len(d.Name), err)
		}
	}
	all, err := db.GetAll(t.Context(), it.Key)
	has("several", all[0], err)
	page, err := db.List(t.Context(), list(10))
	has("a list", page.Items[0], err)

	image := map[string]events.DynamoDBAttributeValue{}
	for name, v := range *put {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			image[name] = events.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberN:
			image[name] = events.NewNumberAttribute(v.Value)
		case *types.AttributeValueMemberB:
			image[name] = events.NewBinaryAttribute(v.Value)
		}
	}
	streamed, err := store.FromRecord(image)
	has("a record of the stream", streamed, err)

	updated, err := db.Update(t.Context(), it.Key,
		store.BumpVersion(expression.Set(store.Attribute("state"), expression.Value("held"))), store.Exists)
	has("an update", updated, err)
	_, err = db.Update(t.Context(), it.Key, store.BumpVersion(expression.UpdateBuilder{}),
		store.Attribute("state").Equal(expression.Value("free")))
	current, _ := store.ConflictOf(err)
	has("the item of a conflict", current, nil)

	replaced, err := db.Update(t.Context(), it.Key, store.SetDocument(store.BumpVersion(expression.UpdateBuilder{}),
		[]byte(`{"name":"short"}`)), store.Exists)
	if err != nil || string(replaced.Doc) != `{"name":"short"}` {
		t.Errorf("another document: %s, %v", replaced.Doc, err)
	}
	if _, name := get(t, db, "thing_1"); name != "short" {
		t.Errorf("another document: %s", name)
	}
}

func TestADocumentOfALaterReleaseIsNotTakenForNone(t *testing.T) {
	image := map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("thing_1"),
		"packed": events.NewBinaryAttribute([]byte{9, 1, 2})}
	if it, err := store.FromRecord(image); err == nil || !strings.Contains(err.Error(), "thing_1") {
		t.Errorf("%+v, %v", it, err)
	}
}

// A version or an amount that cannot be read must not count as 0.
func TestANumberThatCannotBeReadIsNotTakenForNone(t *testing.T) {
	for _, name := range []string{"ver", "ttl", "n_balance"} {
		for _, value := range []events.DynamoDBAttributeValue{
			events.NewNumberAttribute("1.5"), events.NewNumberAttribute("9223372036854775808"),
			events.NewStringAttribute("7"),
		} {
			image := map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("thing_1"),
				"sk": events.NewStringAttribute("#"), name: value}
			it, err := store.FromRecord(image)
			if !errors.Is(err, store.ErrUnreadable) || !strings.Contains(err.Error(), name+" of thing_1 #") {
				t.Errorf("%s: %+v, %v", name, it, err)
			}
		}
	}
	it, err := store.FromRecord(map[string]events.DynamoDBAttributeValue{
		"ver": events.NewNumberAttribute("-9223372036854775808"), "ttl": events.NewNumberAttribute("60"),
		"n_balance": events.NewNumberAttribute("7"),
	})
	if err != nil || it.Version != math.MinInt64 || it.ExpireAt.Unix() != 60 || it.Numbers["balance"] != 7 ||
		it.Numbers["other"] != 0 {
		t.Errorf("%+v, %v", it, err)
	}
}
