import org.openapitools.client.ApiClient;
import org.openapitools.client.api.AccountApi;
import org.openapitools.client.api.FactoriesApi;
import org.openapitools.client.auth.HttpBearerAuth;
import org.openapitools.client.model.AccountResponse;
import org.openapitools.client.model.FactoryList;

/** A call and a list with the client that openapi-generator makes for Java. */
public class Main {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("BASE_URL"));
    ((HttpBearerAuth) client.getAuthentication("apiKey")).setBearerToken(System.getenv("SVC_TEST_KEY"));
    AccountResponse me = new AccountApi(client).getMe(null);
    if (!me.getData().getId().startsWith("acc_")) {
      throw new AssertionError(me);
    }
    FactoryList page = new FactoriesApi(client).listFactories(10L, null, null, null, null, null, null, null);
    if (page.getData() == null) {
      throw new AssertionError(page);
    }
    System.out.println("done");
  }
}
