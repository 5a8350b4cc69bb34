package humafix

import (
	"testing"

	"github.com/content-automation/api/pkg/errs"
)

func TestUnknownMembersAreInTheOrderOfTheirNames(t *testing.T) {
	details := []errs.Detail{{Param: "/z", Message: "is required"}, {Param: "/c", Message: unknownMember}, {Param: "/a", Message: unknownMember}, {Param: "/b", Message: "is required"}, {Param: "/y", Message: unknownMember}, {Param: "/x", Message: unknownMember}}
	sortUnknown(details)
	order := ""
	for _, d := range details {
		order += d.Param
	}
	if order != "/z/a/c/b/x/y" {
		t.Errorf("the order is %s", order)
	}
}
