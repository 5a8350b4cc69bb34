// Package permit finds what a function does with its tables without permission. The tables of most tests permit
// everything, so that a missing permission would show at a deployed function only.
package permit

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// Table is one of the tables of functions.
type Table string

// The tables, by the members of topology.Function with their uses.
const (
	State Table = "State"
	Audit Table = "Audit"
)

// names are the constants of the uses in package topology.
var names = map[topology.Use]string{topology.Get: "Get", topology.GetAll: "GetAll", topology.List: "List",
	topology.Put: "Put", topology.Update: "Update", topology.Delete: "Delete",
	topology.Check: "Check"}

// Missing returns a sentence for each use of a table that a function makes by a call without permission. The call is
// given by its input.
func Missing(f topology.Function, of Table, in any) (all []string) {
	needed, err := uses(in)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", f.Name, err)}
	}
	permitted := f.State
	if of == Audit {
		permitted = f.Audit
	}
	for _, u := range needed {
		if !slices.Contains(permitted, u) {
			all = append(all, fmt.Sprintf("%s makes the call %s without permission: add %s to its %s in "+
				"pkg/cloud/topology/functions.go", f.Name, u, names[u], of))
		}
	}
	return all
}

// uses returns the uses that a call needs.
func uses(in any) (all []topology.Use, err error) {
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		return []topology.Use{topology.Get}, nil
	case *dynamodb.BatchGetItemInput:
		return []topology.Use{topology.GetAll}, nil
	case *dynamodb.QueryInput:
		return []topology.Use{topology.List}, nil
	case *dynamodb.PutItemInput:
		return []topology.Use{topology.Put}, nil
	case *dynamodb.UpdateItemInput:
		return []topology.Use{topology.Update}, nil
	case *dynamodb.DeleteItemInput:
		return []topology.Use{topology.Delete}, nil
	case *dynamodb.TransactWriteItemsInput:
		for _, item := range in.TransactItems {
			if u := write(item); !slices.Contains(all, u) {
				all = append(all, u)
			}
		}
		return all, nil
	default:
		return nil, fmt.Errorf("no use is known of a %T", in)
	}
}

// write returns the use of one write of a transaction.
func write(item types.TransactWriteItem) topology.Use {
	switch {
	case item.Put != nil:
		return topology.Put
	case item.Update != nil:
		return topology.Update
	case item.Delete != nil:
		return topology.Delete
	default:
		return topology.Check
	}
}
