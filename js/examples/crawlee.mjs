// A crawl with Crawlee that fetches every page once, however many URLs it has.
//
//   npm install undust @crawlee/http
//   node crawlee.mjs rules.json https://shop.example/
//
// Crawlee skips a request whose uniqueKey it has seen; undust's key is equal for URLs that show one page.
import { readFileSync } from "node:fs";
import { Configuration, HttpCrawler } from "@crawlee/http";
import { load } from "undust";

const [rulesFile, start] = process.argv.slice(2);
const rules = load(readFileSync(rulesFile));
const withKey = (request) => ({ ...request, uniqueKey: rules.key(request.url) });

const crawler = new HttpCrawler(
  {
    maxRequestsPerCrawl: 500,
    async requestHandler({ request, body, addRequests }) {
      console.log(request.url);
      const links = [...String(body).matchAll(/href="([^"#]+)/g)].map(([, link]) => new URL(link, request.loadedUrl).href);
      const own = links.filter((link) => new URL(link).host === new URL(start).host);
      await addRequests(own.map((url) => withKey({ url })));
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run([withKey({ url: start })]);
