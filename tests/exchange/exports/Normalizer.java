import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Reads rules as Nutch (regex-normalize) or Heritrix (a bean of regex rules) does, and applies them to the lines of stdin. */
public class Normalizer {
  private record Pair(Pattern pattern, String text) {}

  public static void main(String[] arguments) throws Exception {
    Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new File(arguments[0]));
    boolean isNutch = document.getDocumentElement().getTagName().equals("regex-normalize");
    List<Pair> pairs = isNutch ? nutchPairs(document) : heritrixPairs(document);
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
    for (String url = in.readLine(); url != null; url = in.readLine()) {
      for (Pair pair : pairs) {
        Matcher matcher = pair.pattern.matcher(url);
        if (isNutch) {
          url = matcher.replaceAll(pair.text);
        } else if (matcher.matches()) {
          var buffer = new StringBuffer();
          matcher.appendReplacement(buffer, pair.text);
          url = buffer.toString();
        }
      }
      out.write(url + "\n");
    }
    out.flush();
  }

  private static List<Pair> nutchPairs(Document document) {
    var pairs = new ArrayList<Pair>();
    NodeList elements = document.getElementsByTagName("regex");
    for (int place = 0; place < elements.getLength(); place++) {
      Element element = (Element) elements.item(place);
      String pattern = element.getElementsByTagName("pattern").item(0).getTextContent();
      String text = element.getElementsByTagName("substitution").item(0).getTextContent();
      pairs.add(new Pair(Pattern.compile(pattern), text));
    }
    return pairs;
  }

  private static List<Pair> heritrixPairs(Document document) {
    var pairs = new ArrayList<Pair>();
    NodeList beans = document.getElementsByTagName("bean");
    for (int place = 0; place < beans.getLength(); place++) {
      Element bean = (Element) beans.item(place);
      if (bean.getAttribute("class").endsWith(".RegexRule")) {
        NodeList properties = bean.getElementsByTagName("property");
        String regex = ((Element) properties.item(0)).getAttribute("value");
        String format = ((Element) properties.item(1)).getAttribute("value");
        pairs.add(new Pair(Pattern.compile(regex), format));
      }
    }
    return pairs;
  }
}
