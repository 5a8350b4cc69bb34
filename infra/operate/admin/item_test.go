package main

import (
	"errors"
	"strings"
	"testing"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

func TestAnItemIsPrinted(t *testing.T) {
	o := newOperator(t)
	large := strings.Repeat("trail running shoe ", 100)
	it, err := store.NewItem("thing", tenant.Of("acc_1", tenant.Test), "thing_1", map[string]string{"name": large})
	if err != nil {
		t.Fatal(err)
	}
	counter := store.Item{Key: store.Key{PK: "counters", SK: "one"}, Numbers: map[string]int64{"count": 7}}
	tx := &store.Tx{}
	tx.Create(it, nil)
	tx.Create(counter, nil)
	if err := o.db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	var printed struct {
		Kind, Account string
		Numbers       map[string]int64
		Document      struct{ Name string }
	}
	if o.run(&printed, "item", "thing_1"); printed.Kind != "thing" || printed.Account != "acc_1" ||
		printed.Document.Name != large {
		t.Errorf("%+v", printed)
	}
	if o.run(&printed, "item", "counters", "one"); printed.Numbers["count"] != 7 {
		t.Errorf("%+v", printed)
	}
	if out, err := o.try("item", "thing_2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%s, %v", out, err)
	}
}

func TestReplayedRecordsKeepCompressedDocuments(t *testing.T) {
	r := record(streams.Record{EventName: streams.OperationTypeInsert,
		Dynamodb: &streams.StreamRecord{NewImage: map[string]streams.AttributeValue{
			"pk":     &streams.AttributeValueMemberS{Value: "thing_1"},
			"packed": &streams.AttributeValueMemberB{Value: store.Pack([]byte(`{"name":"shoe"}`))},
		}}})
	if it, err := store.FromRecord(r.Change.NewImage); err != nil || it.PK != "thing_1" ||
		string(it.Doc) != `{"name":"shoe"}` {
		t.Errorf("%+v, %v", it, err)
	}
}
