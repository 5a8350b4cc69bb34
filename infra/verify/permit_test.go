package verify_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/verify/permit"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// names are the constants of the uses in package topology.
var names = map[topology.Use]string{topology.Get: "Get", topology.GetAll: "GetAll", topology.List: "List",
	topology.Put: "Put", topology.Update: "Update", topology.Delete: "Delete", topology.Check: "Check"}

func TestEveryCallNeedsItsUse(t *testing.T) {
	transact := func(all ...types.TransactWriteItem) any {
		return &dynamodb.TransactWriteItemsInput{TransactItems: all}
	}
	for _, c := range []struct {
		in   any
		uses []topology.Use
	}{
		{&dynamodb.GetItemInput{}, []topology.Use{topology.Get}},
		{&dynamodb.BatchGetItemInput{}, []topology.Use{topology.GetAll}},
		{&dynamodb.QueryInput{}, []topology.Use{topology.List}},
		{&dynamodb.PutItemInput{}, []topology.Use{topology.Put}},
		{&dynamodb.UpdateItemInput{}, []topology.Use{topology.Update}},
		{&dynamodb.DeleteItemInput{}, []topology.Use{topology.Delete}},
		{transact(types.TransactWriteItem{Put: &types.Put{}}, types.TransactWriteItem{Put: &types.Put{}},
			types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{}}),
			[]topology.Use{topology.Put, topology.Check}},
		{transact(types.TransactWriteItem{Update: &types.Update{}}, types.TransactWriteItem{Delete: &types.Delete{}}),
			[]topology.Use{topology.Update, topology.Delete}},
	} {
		f := topology.Function{Name: "thing", State: c.uses}
		if got := permit.Missing(f, permit.State, c.in); got != nil {
			t.Errorf("%T: %v", c.in, got)
		}
		got := permit.Missing(f, permit.Audit, c.in)
		if len(got) != len(c.uses) {
			t.Errorf("%T: %v", c.in, got)
			continue
		}
		for i, u := range c.uses {
			want := "thing makes the call " + string(u) + " without permission: add " + names[u] + " to its Audit in "
			if !strings.HasPrefix(got[i], want) || names[u] == "" {
				t.Errorf("%T: %q, want %q", c.in, got[i], want)
			}
		}
	}
}

func TestACallOfWhichNoUseIsKnown(t *testing.T) {
	f := topology.Function{Name: "thing", State: []topology.Use{topology.Update}}
	for _, in := range []any{&dynamodb.ScanInput{}, &dynamodb.BatchExecuteStatementInput{}} {
		if got := permit.Missing(f, permit.State, in); len(got) != 1 || !strings.HasPrefix(got[0], "thing: no use is known of ") {
			t.Errorf("%T: %v", in, got)
		}
	}
}
