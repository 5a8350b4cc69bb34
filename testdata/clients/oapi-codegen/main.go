// A call and a list with the client that oapi-codegen makes.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/content-automation/api/infra/tools/made"
)

func main() {
	key := func(_ context.Context, req *http.Request) error {
		req.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TEST_KEY"))
		return nil
	}
	client, err := made.NewClientWithResponses(os.Getenv("BASE_URL"), made.WithRequestEditorFn(key))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	me, err := client.GetMeWithResponse(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	page, err := client.ListFactoriesWithResponse(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	if me.JSON200 == nil || me.JSON200.Data.Id == "" || page.JSON200 == nil || page.JSON200.Data == nil {
		log.Fatal(me.Status(), page.Status())
	}
	fmt.Println("done")
}
